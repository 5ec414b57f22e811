/** Whether a location can be pulled from at all, told before it is set rather than by the first pull. */
import { statSync } from 'node:fs'
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { fileURLToPath } from 'node:url'
import { inTime } from '../../core/async/wait.js'
import { SECOND } from '../../core/clock.js'
import { codeOf } from '../../core/errors.js'
import { isPrivate } from '../../core/net/addresses.js'
import { causeOf, privateMessage } from './fetch.js'

/** Nobody at a terminal waits for a name server for longer. */
const LOOKUP_TIMEOUT = 5 * SECOND
/** `feeds.example/file.csv`, which would be taken for a path. */
const NAMED_HOST =
  /^(?:www\.|[\w-]+(?:\.[\w-]+)*\.(?:com|net|org|io|us|biz|info)(?::\d+)?(?:\/|$))/i

export interface LocationVerdict {
  /** What the pull would refuse, and how to mend it. */
  fault: string | null
  /** What may be right by the time of the pull. */
  doubt: string | null
}

/**
 * Looks at an http(s) URL or a path as the pull will. Asks name servers and nobody else, at most
 * five seconds.
 */
export async function lookAtLocation(
  location: string,
  { allowPrivate }: { allowPrivate: boolean },
): Promise<LocationVerdict> {
  const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(location)?.[1]?.toLowerCase()
  if (scheme === undefined || scheme === 'file') return { fault: fileFault(location), doubt: null }
  if (scheme !== 'http' && scheme !== 'https') return { fault: schemeFault(scheme), doubt: null }
  if (!URL.canParse(location)) return { fault: 'it is not a URL', doubt: null }
  const host = new URL(location).hostname.replace(/^\[|\]$/g, '')
  if (allowPrivate) return { fault: null, doubt: null }
  if (isIP(host)) return { fault: isPrivate(host) ? privateMessage(host) : null, doubt: null }
  return lookedUp(host)
}

async function lookedUp(host: string): Promise<LocationVerdict> {
  try {
    const found = await inTime(() => lookup(host, { all: true }), {
      ms: LOOKUP_TIMEOUT,
      late: () => {
        throw new Error('no answer in time')
      },
    })
    const refused = found.find(({ address }) => isPrivate(address))
    return { fault: refused ? privateMessage(refused.address) : null, doubt: null }
  } catch {
    return { fault: null, doubt: `the name ${host} cannot be looked up now: is it spelled right?` }
  }
}

function fileFault(location: string): string | null {
  if (NAMED_HOST.test(location)) return `write https://${location} for a URL, or ./ before a path`
  const path = /^file:/i.test(location) ? fileURLToPath(location) : location
  try {
    return statSync(path).isFile() ? null : `${path} is a folder: name the file in it`
  } catch (error) {
    return codeOf(error) === 'ENOTDIR'
      ? `there is no file ${path}: a part of its path is a file`
      : `${path}: ${causeOf(error)}`
  }
}

const schemeFault = (scheme: string): string =>
  /^(ftps?|ftpes|sftp)$/.test(scheme)
    ? `${scheme}:// is not pulled from here: have a job of your own fetch the file, and name its ` +
      'path; or describe the distributor in a document (`distributors template`), whose feeds may ' +
      'come by FTP and SFTP'
    : `${scheme}:// is not known: give an http(s) URL, or a path on this machine`
