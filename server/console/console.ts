/**
 * The console: a page to work in and the calls that it makes, on the admin listener alone. Each call
 * is looked at in this order: where it comes from, that a page of ours made it, who has signed in.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App } from '../../lib/app/open.js'
import { csrfOf, sessionOf } from '../../lib/console/sessions.js'
import type { Session } from '../../lib/console/sessions.js'
import { ApiError } from '../../lib/core/errors.js'
import { callOperation, callShop } from './calls.js'
import { COOKIE_LIFE, cookieOf, tokenIn } from './cookie.js'
import { operatorDocument } from './document.js'
import { openPageFiles } from './files.js'
import { readJson, sendData, sendError } from './messages.js'
import { makeGate, refuseOtherSites, refuseStrangers } from './place.js'
import type { ConsolePlace } from './place.js'
import { Refusal } from './refusals.js'
import { openSessionCalls } from './session-calls.js'
import { openUploads } from './uploads.js'
import { openLongWork } from './work.js'

/** Answers a request; false where its path is none of the console. */
export type Console = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>

interface Call {
  request: IncomingMessage
  response: ServerResponse
  /** Below `/operator/`. */
  path: string
  origin: string
  address: string
  isSecure: boolean
}

export interface ConsoleOptions extends ConsolePlace {
  /** The folder of the page's files; where the build put them by default. */
  files?: string | undefined
  /** Variables for commands that run beside the server: what its options say in their place. */
  environment?: Readonly<Record<string, string>> | undefined
}

export function createConsole(
  app: App,
  { files, environment = {}, ...place }: ConsoleOptions = {},
): Console {
  const { ctx } = app
  const gate = makeGate(place)
  const page = openPageFiles(files)
  const sessions = openSessionCalls(ctx)
  const tools = { app, uploads: openUploads(app), work: openLongWork(ctx), environment }
  let document: string | undefined

  /** Who calls; throws a Refusal where nobody has signed in. */
  async function signedIn(
    call: Pick<Call, 'request' | 'isSecure'>,
  ): Promise<{ session: Session; token: string }> {
    const token = tokenIn(call.request, call.isSecure)
    const session = token === null ? null : await sessionOf(ctx, token)
    if (!session || token === null) throw new Refusal('signed_out')
    return { session, token }
  }

  async function get(call: Call): Promise<void> {
    const { request, response, path } = call
    refuseOtherSites(request)
    if (path === 'session') {
      const token = tokenIn(request, call.isSecure)
      const session = token === null ? null : await sessionOf(ctx, token)
      return sendData(response, sessions.state(session, token))
    }
    await signedIn(call)
    const [, job] = /^jobs\/([0-9a-f]+)\/events$/.exec(path) ?? []
    if (job !== undefined) return tools.work.follow(job, response)
    if (path !== 'openapi.json') throw new ApiError('not_found')
    const text = (document ??= JSON.stringify(operatorDocument()))
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    response.end(text)
  }

  async function start(call: Call): Promise<void> {
    const { request, response, address, isSecure } = call
    const { token, state } = await sessions.start(await readJson(request), {
      address,
      agent: request.headers['user-agent'] ?? '',
    })
    sendData(response, state, { 'set-cookie': cookieOf(request, isSecure, token, COOKIE_LIFE) })
  }

  async function post(call: Call): Promise<void> {
    const { request, response, path, origin, isSecure } = call
    refuseStrangers(request, origin)
    if (path === 'session/start') return start(call)
    const { session, token } = await signedIn(call)
    if (request.headers['x-csrf'] !== csrfOf(token)) throw new Refusal('wrong_csrf')
    if (path === 'uploads') {
      if (session.role !== 'operator') throw new Refusal('viewer_may_not')
      return sendData(response, await tools.uploads.take(request))
    }
    const input = await readJson(request)
    const [group, rest] = [path.slice(0, path.indexOf('/')), path.slice(path.indexOf('/') + 1)]
    if (group === 'session') {
      const done = sessions.call(rest, session, input)
      if (!done) throw new ApiError('not_found')
      const answered = (await done) ?? null
      return sendData(
        response,
        answered,
        rest === 'end' ? { 'set-cookie': cookieOf(request, isSecure, '', 0) } : {},
      )
    }
    if (path === 'jobs/list') return sendData(response, tools.work.list())
    if (path === 'jobs/show') return sendData(response, tools.work.resultOf(String(input['id'])))
    if (group === 'shop') return sendData(response, await callShop(tools, rest, input))
    sendData(response, await callOperation(tools, path, session, input))
  }

  async function answer(call: Call): Promise<void> {
    const { method } = call.request
    if (method === 'POST') return post(call)
    if (method === 'GET') return get(call)
    throw new ApiError('method_not_allowed', { headers: { allow: 'GET, POST' } })
  }

  return async (request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
    const isCall = path.startsWith('/operator/')
    if (!isCall && path !== '/' && !path.startsWith('/console/')) return false
    try {
      const place = gate(request)
      if (isCall)
        await answer({ request, response, path: path.slice('/operator/'.length), ...place })
      else if (request.method !== 'GET' && request.method !== 'HEAD')
        throw new ApiError('method_not_allowed', { headers: { allow: 'GET, HEAD' } })
      else if (!(await page.send(path, response, request.method === 'HEAD')))
        throw new ApiError('not_found')
    } catch (error) {
      await sendError({ request, response }, error, ctx.log)
    }
    return true
  }
}
