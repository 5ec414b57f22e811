/**
 * One page of lines, as a small PDF: the stand-in for a scanned document. Takes ASCII without
 * brackets and backslashes.
 */
export function makePdf(lines: readonly string[]): Buffer {
  const text =
    'BT /F1 14 Tf 72 720 Td 20 TL ' +
    `${lines.map((line) => `(${line.replaceAll(/[^\x20-\x7e]|[()\\]/g, ' ')}) Tj T*`).join(' ')} ` +
    'ET'
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font ' +
      '<< /F1 5 0 R >> >> >>',
    `<< /Length ${text.length} >>\nstream\n${text}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  let file = '%PDF-1.4\n'
  const starts = objects.map((object, i) => {
    const start = file.length
    file += `${i + 1} 0 obj\n${object}\nendobj\n`
    return start
  })
  const table = starts.map((start) => `${String(start).padStart(10, '0')} 00000 n \n`).join('')
  return Buffer.from(
    `${file}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer << /Size ` +
      `${objects.length + 1} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`,
    'latin1',
  )
}
