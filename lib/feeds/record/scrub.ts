/**
 * What a recording may not tell besides credentials: the person behind the account, and the prices
 * that the distributor gives it, with every other number that has decimals. All else stays to the
 * character, for it is the format.
 */
import { HIDDEN } from '../../distributors/session/redact.js'

/** Members that tell of a person or an account; not those of goods, such as `mfgName`. */
const PERSONAL_WORDS =
  'e-?mail|phone|fax|address|street|(?<!capa)city|zip|postal|contact|company|license|ffl|' +
  'token|secret|password|credit|balance|account|customer|user'
const PERSONAL_NAMES = '(?:first|last|full|display|bill|ship|store|sold)?_?name|line_?\\d'
const PERSONAL = new RegExp(`^(?:.*(?:${PERSONAL_WORDS}).*|${PERSONAL_NAMES})$`, 'i')
const PRICE = /price|cost|retail|msrp|map|^(?:[cm]?prc|bprc)\d?$/i
const EMAIL = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g
const TELEPHONE = /\(?\b\d{3}\)?[ .-]\d{3}[ .-]\d{4}\b/g
const DECIMAL = /(?<![\w.])\d+\.\d+(?![\w.])/g

/** Letters and digits by their kind: what it looks like, and not what it says. */
const shapeOf = (text: string) =>
  text === HIDDEN
    ? text
    : text
        .replaceAll(/\p{Lu}/gu, 'X')
        .replaceAll(/\p{Ll}/gu, 'x')
        .replaceAll(/\d/g, '0')

/** So many digits on each side of the point; no price of zero, which means something else. */
const sumOf = (text: string) =>
  Number(text) === 0 ? text : text.replaceAll(/\d/g, '0').replace('0', '1')

/** Without anybody's name, address or number, and without prices; of an answer to a check. */
export function withoutPerson(text: string): string {
  return withoutPrices(
    replaceMembers(text, (name, value, isNumber) =>
      !PERSONAL.test(name) ? value : isNumber ? sumOf(value) : shapeOf(value),
    ),
  )
}

/** Without the prices of an account; of a feed. Of a file with a header its columns are known. */
export function withoutPrices(text: string): string {
  const named = replaceMembers(text, (name, value) =>
    PRICE.test(name) && /^-?[\d.]+$/.test(value) ? sumOf(value) : value,
  )
  return withoutContacts(columnsWithoutPrices(named).replaceAll(DECIMAL, sumOf))
}

const withoutContacts = (text: string) =>
  text.replaceAll(EMAIL, 'someone@shop.example').replaceAll(TELEPHONE, '555-555-0100')

/** Members of JSON, of which a number must stay one, and elements of XML, by their names. */
function replaceMembers(
  text: string,
  replace: (name: string, value: string, isNumber: boolean) => string,
): string {
  return text
    .replaceAll(
      /("([\w $#-]+)"\s*:\s*)(?:"((?:[^"\\]|\\.)*)"|(-?\d[\d.]*))/gs,
      (_whole, before: string, name: string, quoted?: string, number?: string) =>
        before +
        (number === undefined
          ? `"${replace(name, quoted ?? '', false)}"`
          : replace(name, number, true)),
    )
    .replaceAll(
      /((?:<|&lt;)([A-Za-z_][\w.-]*)(?:>|&gt;))([^<&]*)((?:<|&lt;)\/\2(?:>|&gt;))/g,
      (_whole, before: string, name: string, value: string, after: string) =>
        before + replace(name, value, false) + after,
    )
}

/** Of lines with a header: what stands in its price columns. */
function columnsWithoutPrices(text: string): string {
  const [header = '', ...lines] = text.split('\n')
  const delimiter = ['\t', ';', '|', ','].find((one) => header.split(one).length > 3)
  if (delimiter === undefined || /^\s*[<[{]/.test(header)) return text
  const cells = (line: string) =>
    line.match(
      new RegExp(
        `(?:"(?:[^"]|"")*"|[^${delimiter}"])*(?:${delimiter === '|' ? '\\|' : delimiter}|$)`,
        'g',
      ),
    ) ?? []
  const isPrice = cells(header).map((name) => PRICE.test(name.replaceAll(/[^\w]/g, '')))
  if (!isPrice.includes(true)) return text
  const scrubbed = lines.map((line) =>
    cells(line)
      .map((cell, i) => (isPrice[i] ? cell.replace(/[\d.]+/, sumOf) : cell))
      .join(''),
  )
  return [header, ...scrubbed].join('\n')
}
