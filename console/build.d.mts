/** Bytes that all files of the page may have together, compressed. */
export const MOST_BYTES: number

/** Writes the files of the console into a folder. */
export function buildConsole(
  outdir: string,
  options?: { minify?: boolean },
): Promise<{ inputs: string[]; bytes: number }>
