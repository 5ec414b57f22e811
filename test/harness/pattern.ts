/** One pattern of several that follow each other, for texts of more than a line. */
export function pattern(...parts: readonly RegExp[]): RegExp {
  return new RegExp(parts.map(({ source }) => source).join(''), parts[0]?.flags)
}
