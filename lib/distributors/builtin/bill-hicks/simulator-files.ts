/** Bill Hicks's FTP server as a simulator has it: the feed, an inbox, and answers in a folder. */
import type { Profile, World } from '../../../simulator/engine/world.js'
import type { FtpAnswer, FtpHandled } from '../../../simulator/wire/ftp-conversation.js'
import type { FtpRequest, FtpSite } from '../../../simulator/wire/ftp-simulator.js'
import { dropInto, nameIn, NOT_THERE } from '../../../simulator/wire/inbox.js'
import type { StoreRequest } from '../../../simulator/wire/inbox.js'
import { inboxSite } from '../../../simulator/wire/inbox-site.js'
import type { Lying } from '../../../simulator/wire/inbox-site.js'
import { CATALOG, INVENTORY } from './account-feed.js'
import { foldersOf } from './account.js'
import { answersOf } from './simulator-answers.js'
import type { AnswerFile } from './simulator-answers.js'
import { readOrderFile } from './simulator-inbox.js'
import { feedAt } from './simulator-items.js'

const { orders: INBOX, answers: OUTBOX } = foldersOf({})

export const billHicksFiles = (world: World, profile: Profile): FtpSite =>
  inboxSite(world, profile, {
    answers: `/${OUTBOX}`,
    answerAt: (request, lying) => answerAt(world, profile, request, lying),
    drop: (request) => drop(world, profile, request),
  })

function answerAt(
  world: World,
  profile: Profile,
  { act: { kind, path } }: FtpRequest,
  { inbox, orders }: Lying,
): FtpAnswer {
  const name = nameIn(path)
  const outbox = () => answersOf(profile, orders(), world.now())
  if (kind === 'list') {
    if (path === '/') return { names: [CATALOG, INVENTORY] }
    if (path === `/${INBOX}`) return { names: inbox().map((file) => file.name) }
    return path === `/${OUTBOX}` ? listOf(outbox()) : NOT_THERE
  }
  if (path === `/${name}`) return feedAt(world, name)
  if (path === `/${INBOX}/${name}`) {
    const file = inbox().find((one) => one.name === name)
    return file ? { file: Buffer.from(file.content, 'latin1') } : NOT_THERE
  }
  const answer = path === `/${OUTBOX}/${name}` && outbox().find((one) => one.name === name)
  return answer
    ? { file: Buffer.from(answer.text, 'latin1'), modifiedAt: answer.writtenAt }
    : NOT_THERE
}

function listOf(files: readonly AnswerFile[]): FtpAnswer {
  const times = new Map(files.map(({ name, writtenAt }) => [name, writtenAt]))
  return { names: [...times.keys()], modifiedAt: (name) => times.get(name)! }
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
