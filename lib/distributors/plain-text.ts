/** Texts of an order in the alphabet that files and forms of distributors have. */

/** Plain ASCII: marks fall off letters, anything else becomes a blank. */
export function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\x20-\x7e]+/g, ' ')
    .replaceAll(/ {2,}/g, ' ')
    .trim()
}

/** A telephone number without all that is not a digit. */
export const digits = (phone: string | null): string => (phone ?? '').replaceAll(/\D/g, '')
