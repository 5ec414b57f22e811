/** A console over real sockets, and a page that calls it; every answer is held to its shape. */
import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import type { OutgoingHttpHeaders } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { allOperations } from '../../lib/app/operations/index.js'
import { firstLink, makeLink } from '../../lib/console/links.js'
import { ERRORS } from '../../lib/core/errors.js'
import type { ErrorCode } from '../../lib/core/errors.js'
import { present } from '../../lib/core/present.js'
import { createAdmin } from '../../server/admin/admin.js'
import { createConsole } from '../../server/console/console.js'
import type { ConsoleOptions } from '../../server/console/console.js'
import { refusalsOf } from '../../server/console/document.js'
import { listen } from '../../server/http/listen.js'
import { createTestApp } from '../../server/testing/index.js'
import type { Answer, TestApp, TestOptions } from '../../server/testing/index.js'

export const PASSWORD = 'correct horse battery staple'

export interface Told {
  status: number
  headers: Record<string, string | string[] | undefined>
  /** The body as it came; parsed where it is JSON. */
  body: Answer
}

export interface Page {
  /** What it sends along; a test changes it to be somebody else. */
  headers: OutgoingHttpHeaders
  send(method: string, path: string, body?: unknown, headers?: OutgoingHttpHeaders): Promise<Told>
  /** Calls an operation and tells what it answers; long work is followed to its end. */
  call(id: string, input?: unknown): Promise<Answer>
  /** The code of a refusal. */
  refused(id: string, input?: unknown): Promise<string>
  upload(name: string, content: string | Buffer): Promise<string>
}

export interface ConsoleTest {
  test: TestApp
  url: string
  /** A page that has not signed in. */
  page(): Page
  /** One that has, by a link. */
  signedIn(role?: 'operator' | 'viewer', name?: string): Promise<Page>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export async function createConsoleTest({
  console: options = {},
  ...rest
}: TestOptions & { console?: ConsoleOptions } = {}): Promise<ConsoleTest> {
  const test = await createTestApp(rest)
  const listening = await listen(
    { nodeHandler: createAdmin(test.app, { console: createConsole(test.app, options) }) },
    { host: '127.0.0.1', port: 0 },
  )
  const close = async () => {
    await listening.close(0)
    await test.close()
  }
  const page = () => openPage(listening.url)
  return {
    test,
    url: listening.url,
    page,
    close,
    [Symbol.asyncDispose]: close,
    async signedIn(role = 'operator', name = role) {
      const link = await makeLink(test.app.ctx, { name, role, kind: 'sign_in' })
      const one = page()
      await signIn(one, { token: link.token })
      return one
    },
  }
}

/** Signs in, and keeps cookie and csrf as a browser does. */
export async function signIn(page: Page, input: unknown): Promise<Told> {
  const told = await page.send('POST', '/operator/session/start', input)
  if (told.status === 200) {
    const [cookie] = present(told.headers['set-cookie'] as string[] | undefined, 'a cookie')
    page.headers['cookie'] = present(cookie, 'a cookie').split(';')[0]!
    page.headers['x-csrf'] = told.body.data.csrf
  }
  return told
}

export { firstLink, makeLink }

function openPage(url: string): Page {
  const headers: OutgoingHttpHeaders = { origin: url, 'content-type': 'application/json' }
  const send: Page['send'] = (method, path, body, more = {}) =>
    new Promise((resolve, reject) => {
      const sent = httpRequest(
        url + path,
        { method, headers: { ...headers, ...more }, agent: false },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString()
            const isJson = response.headers['content-type']?.startsWith('application/json')
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: isJson ? JSON.parse(text) : text,
            })
          })
        },
      )
      sent.on('error', reject)
      sent.end(Buffer.isBuffer(body) ? body : body === undefined ? '' : JSON.stringify(body))
    })

  async function post(id: string, input: unknown): Promise<Told> {
    const told = await send('POST', `/operator/${id.replace('.', '/')}`, input)
    checkAnswer(id, told)
    return told
  }

  return {
    headers,
    send,
    async call(id, input = {}) {
      const { status, body } = await post(id, input)
      assert.equal(status, 200, JSON.stringify(body))
      if (!operationOf(id).isLong) return body.data
      const events = await send('GET', `/operator/jobs/${body.data.job}/events`)
      const last = events.body.trim().split('\n\n').at(-1)
      const data = JSON.parse(/^data: (.*)$/m.exec(last)?.[1] ?? 'null')
      if (!last.startsWith('event: done')) throw Object.assign(new Error(data.message), data)
      checkResult(id, data.result)
      return data.result
    },
    async refused(id, input = {}) {
      const { body } = await post(id, input)
      assert.equal(body.success, false, JSON.stringify(body))
      return body.error.code
    },
    async upload(name, content) {
      const told = await send('POST', '/operator/uploads', Buffer.from(content), {
        'x-file-name': encodeURIComponent(name),
      })
      assert.equal(told.status, 200, JSON.stringify(told.body))
      return told.body.data.upload
    },
  }
}

/** Operations that some test has had an answer of. */
export const asked = new Set<string>()

const operationOf = (id: string) =>
  present(
    allOperations.find((one) => one.id === id),
    id,
  )

/** Throws where an answer is not what the definition of its operation says. */
function checkAnswer(id: string, { status, body }: Told): void {
  const operation = allOperations.find((one) => one.id === id)
  if (!operation) return
  if (status === 200) {
    if (!operation.isLong) checkResult(id, body.data)
    return
  }
  const { code } = body.error
  assert.ok(
    refusalsOf(operation).get(status)?.includes(code),
    `${id} answered ${status} ${code}, which its definition does not have`,
  )
  if (code in ERRORS) assert.equal(ERRORS[code as ErrorCode][0], status)
}

function checkResult(id: string, data: unknown): void {
  asked.add(id)
  const found = operationOf(id).result.safeParse(data)
  assert.ok(found.success, `${id}: ${JSON.stringify(found.error?.issues.slice(0, 3))}`)
  assert.ok(
    isDeepStrictEqual(found.data, data),
    `${id} answers more than its shape has: ${JSON.stringify(data).slice(0, 400)}`,
  )
}
