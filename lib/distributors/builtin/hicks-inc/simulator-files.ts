/** Hicks Inc.'s FTP server as a simulator has it: the feed, an inbox, and what comes of it. */
import type { Profile, World } from '../../../simulator/engine/world.js'
import type { FtpAnswer, FtpHandled } from '../../../simulator/wire/ftp-conversation.js'
import type { FtpRequest, FtpSite } from '../../../simulator/wire/ftp-simulator.js'
import { dropInto, nameIn, NOT_THERE } from '../../../simulator/wire/inbox.js'
import type { StoreRequest } from '../../../simulator/wire/inbox.js'
import { inboxSite } from '../../../simulator/wire/inbox-site.js'
import type { Lying } from '../../../simulator/wire/inbox-site.js'
import { INBOX, PROBLEMS, TAKEN, TRACKING } from './account.js'
import { answersOf, trackingOf } from './simulator-answers.js'
import { readOrderFile } from './simulator-inbox.js'
import { feedAt } from './simulator-items.js'

export const hicksIncFiles = (world: World, profile: Profile): FtpSite =>
  inboxSite(world, profile, {
    answers: `/${TAKEN}`,
    answerAt: (request, lying) => answerAt(world, profile, request, lying),
    drop: (request) => drop(world, profile, request),
  })

function answerAt(
  world: World,
  profile: Profile,
  { act: { kind, path: rooted } }: FtpRequest,
  { inbox, orders }: Lying,
): FtpAnswer {
  const path = rooted.slice(1)
  const now = world.now()
  if (kind === 'list') {
    if (path === INBOX) return { names: inbox().map((file) => file.name) }
    if (path !== TAKEN && path !== PROBLEMS) return NOT_THERE
    const times = new Map(
      answersOf(profile, orders(), now)
        .filter((answer) => answer.path.startsWith(`${path}/`))
        .map((answer) => [nameIn(answer.path), answer.writtenAt]),
    )
    return { names: [...times.keys()], modifiedAt: (name) => times.get(name)! }
  }
  if (path === TRACKING)
    return { file: Buffer.from(trackingOf(profile, orders(), now)), modifiedAt: now }
  if (path.startsWith(`${INBOX}/`)) {
    const file = inbox().find((one) => one.name === nameIn(path))
    return file ? { file: Buffer.from(file.content, 'latin1') } : NOT_THERE
  }
  const answer = answersOf(profile, orders(), now).find((one) => one.path === path)
  return answer
    ? { file: Buffer.from(answer.text, 'latin1'), modifiedAt: answer.writtenAt }
    : feedAt(world, path)
}

/** A file lands in the inbox, to be read at the next round. */
function drop(world: World, profile: Profile, request: StoreRequest): FtpHandled {
  const { path, body } = request.act
  const name = nameIn(path)
  if (path !== `/${INBOX}/${name}` || !name.endsWith('.txt'))
    return { answer: { refused: 553, text: 'Not allowed' } }
  const order = readOrderFile(body.toString('latin1'))
  const nobody = { name: '', address1: '', zip: '' }
  return dropInto(
    world,
    profile,
    request,
    order ?? { po: name, lines: [], to: nobody, firearms: false },
  )
}
