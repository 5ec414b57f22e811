/** JSON of a file or of standard input, under the rules of a request's body. */
import { readFileSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { firstPlace } from '../../lib/core/binary-search.js'
import { refuseFaults } from '../../lib/core/endpoint/endpoint.js'
import { ApiError, codeOf, invalid } from '../../lib/core/errors.js'
import type { Fault } from '../../lib/core/errors.js'
import { checkTexts, jsonExcess, lineAndColumn, withNewlines } from '../../lib/core/json.js'
import { MAX_BODY } from '../http/decode.js'

/** The JSON of a file, or of standard input for `-`. */
export async function readJsonFile(file: string): Promise<unknown> {
  const name = file === '-' ? 'standard input' : file
  const bytes = await readBytes(file).catch((error: unknown) => {
    const code = codeOf(error)
    throw invalid(
      'file',
      'cannot read ' +
        `${name}` +
        (code === 'EISDIR' ? ': it is a folder' : code === 'EACCES' ? ': permission denied' : ''),
    )
  })
  if (bytes.length > MAX_BODY)
    throw new ApiError('payload_too_large', {
      message: `${name} is larger than 1 MB (1,048,576 bytes)`,
    })
  const document = parse(bytes, name)
  const faults: Fault[] = []
  checkTexts(document, faults)
  refuseFaults(faults)
  return document
}

async function readBytes(file: string): Promise<Buffer> {
  return file === '-' ? buffer(process.stdin) : readFileSync(file)
}

function parse(bytes: Buffer, name: string): unknown {
  const refuse = (why: string) => new ApiError('invalid_json', { message: `${name} ${why}` })
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw refuse('is not valid UTF-8')
  }
  if (text.trim() === '') throw refuse('is empty')
  const excess = jsonExcess(text)
  if (excess) throw refuse(excess)
  try {
    return withNewlines(JSON.parse(text) as unknown)
  } catch {
    throw refuse(`is not valid JSON: ${faultPlace(text)}`)
  }
}

/**
 * Where a text stops being JSON. The parser's own message would repeat what stands there, and that
 * may be a secret.
 */
function faultPlace(text: string): string {
  if (!breaksWithin(text)) return 'it ends too early'
  const bad = firstPlace(text.length, (length) => breaksWithin(text.slice(0, length)))
  return lineAndColumn(text, bad - 1)
}

/** Whether a text is no JSON, whatever were appended to it. */
function breaksWithin(text: string): boolean {
  try {
    JSON.parse(text)
    return false
  } catch (error) {
    const { message } = error as Error
    const position = /at position (\d+)/.exec(message)
    return position
      ? Number(position[1]) < text.length && !message.startsWith('Unterminated')
      : message.startsWith('Unexpected token')
  }
}
