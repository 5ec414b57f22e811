/** An operation as the command that calls it. */
import type { Called } from '../openapi.js'

/** Stands where the page puts the address that it came from. */
export const SERVER = 'http://127.0.0.1:8080'

/**
 * The command for a shell. `given` are the values of parameters; the body is the example. The page
 * writes the same once something is filled in: assets/reference.js.
 */
export function curlOf(
  { method, path, parameters = [], requestBody, security }: Called,
  given: Record<string, unknown>,
): string {
  const valueOf = ({ name, example }: { name: string; example?: unknown }) =>
    String(given[name] ?? example)
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const inQuery = parameters.filter(
    (parameter) => parameter.in === 'query' && (parameter.required || parameter.name in given),
  )
  const inHeader = parameters.filter((parameter) => parameter.in === 'header' && parameter.required)
  const address = inPath.reduce(
    (text, parameter) =>
      text.replace(`{${parameter.name}}`, encodeURIComponent(valueOf(parameter))),
    path,
  )
  const search = new URLSearchParams(
    inQuery.map((each): [string, string] => [each.name, valueOf(each)]),
  )
  const body = requestBody?.content['application/json'].example
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}` +
      quoted(SERVER + address + (search.size > 0 ? `?${search}` : '')),
    ...(security?.length === 0 ? [] : [`-H ${quoted('x-api-key: YOUR_KEY')}`]),
    ...inHeader.map((each) => `-H ${quoted(`${each.name}: ${valueOf(each)}`)}`),
    ...(body === undefined
      ? []
      : [
          `-H ${quoted('content-type: application/json')}`,
          `-d ${quoted(JSON.stringify(body, null, 2))}`,
        ]),
  ].join(' \\\n  ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
