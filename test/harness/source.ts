/** Source text as the compiler sees it: comments, quotes and breaks of lines play no part. */
import { transform } from 'esbuild'

/** The same for the same code, however it is laid out; a part of a file is a part of it. */
export async function compact(text: string): Promise<string> {
  const { code } = await transform(text, { loader: 'ts', minifyWhitespace: true })
  return code.trim()
}
