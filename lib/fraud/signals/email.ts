/**
 * One string per mailbox: what its provider ignores in an address is left out, by what that
 * provider documents.
 */
import { domainToASCII } from 'node:url'
import { isAscii } from './fold.js'

interface Provider {
  /** The domain that its other names stand for; none where each domain has mailboxes of its own. */
  readonly canonical?: string
  /** What begins a tag that is ignored, to the end of the name. */
  readonly tag?: '+' | '-'
  /** Characters that are ignored. */
  readonly ignored?: RegExp
  /** Characters that are one. */
  readonly alike?: readonly [RegExp, string]
  /** Whether `tag@user.domain` is `user@domain`. */
  readonly subdomains?: boolean
}

const MICROSOFT = `outlook.com hotmail.com live.com msn.com passport.com windowslive.com outlook.at
outlook.be outlook.cl outlook.cz outlook.de outlook.dk outlook.es outlook.fr outlook.hu outlook.ie
outlook.in outlook.it outlook.jp outlook.kr outlook.lv outlook.my outlook.ph outlook.pt outlook.sa
outlook.sg outlook.sk
outlook.co.id outlook.co.il outlook.co.nz outlook.co.th outlook.com.ar outlook.com.au
outlook.com.br outlook.com.gr outlook.com.pe outlook.com.tr outlook.com.vn hotmail.at hotmail.be
hotmail.ca hotmail.ch hotmail.cl hotmail.co.il hotmail.co.jp hotmail.co.nz hotmail.co.th
hotmail.co.uk hotmail.com.ar hotmail.com.au hotmail.com.br hotmail.com.mx hotmail.com.tr hotmail.de
hotmail.dk hotmail.es hotmail.fi hotmail.fr hotmail.gr hotmail.hu hotmail.it hotmail.nl hotmail.no
hotmail.se
live.at live.be live.ca live.cl live.cn live.co.uk live.com.ar live.com.au live.com.mx live.com.pt
live.de live.dk live.fi live.fr live.ie live.in live.it live.jp live.nl live.no live.se`
const YAHOO =
  'yahoo.com ymail.com rocketmail.com myyahoo.com yahoo.ca yahoo.co.id yahoo.co.in yahoo.co.nz ' +
  'yahoo.co.th yahoo.co.uk yahoo.co.za yahoo.com.ar yahoo.com.au yahoo.com.br yahoo.com.co ' +
  'yahoo.com.hk yahoo.com.mx yahoo.com.my yahoo.com.ph yahoo.com.sg yahoo.com.tr yahoo.com.tw ' +
  'yahoo.com.vn yahoo.cz yahoo.de yahoo.dk yahoo.es yahoo.fi yahoo.fr yahoo.gr yahoo.hu ' +
  'yahoo.ie yahoo.in yahoo.it yahoo.nl yahoo.no yahoo.pl yahoo.pt yahoo.ro yahoo.se'
const YANDEX =
  'yandex.ru yandex.com yandex.az yandex.by yandex.co.il yandex.com.am yandex.com.ge ' +
  'yandex.com.tr yandex.ee yandex.fr yandex.kg yandex.kz yandex.lt yandex.lv yandex.md ' +
  'yandex.tj yandex.tm yandex.ua yandex.uz ya.ru narod.ru'
const FASTMAIL =
  'fastmail.com fastmail.fm fastmail.net fastmail.org fastmail.us fastmail.uk fastmail.de ' +
  'fastmail.jp messagingengine.com'

/**
 * Gmail: dots and +tags, two names of one domain. Microsoft: +tags; its domains have mailboxes of
 * their own. Apple: +tags, three names of one domain. Proton: dots, hyphens, underscores and +tags,
 * four names of one domain. Yandex: +tags, a dot is a hyphen, and every domain is an alias.
 * Fastmail: +tags and tag@user.domain. Yahoo: -tags, since no Yahoo name has a hyphen or a plus of
 * its own. HEY and Duck: +tags, for no name there has a plus. AOL, GMX, Comcast and others document
 * nothing, and their users' addresses stay.
 */
const PROVIDERS: ReadonlyMap<string, Provider> = new Map(
  (
    [
      ['gmail.com googlemail.com', { canonical: 'gmail.com', tag: '+', ignored: /\./g }],
      [MICROSOFT, { tag: '+' }],
      ['icloud.com me.com mac.com', { canonical: 'icloud.com', tag: '+' }],
      [
        'proton.me protonmail.com protonmail.ch pm.me',
        { canonical: 'proton.me', tag: '+', ignored: /[._-]/g },
      ],
      [YANDEX, { canonical: 'yandex.ru', tag: '+', alike: [/\./g, '-'] }],
      [FASTMAIL, { tag: '+', subdomains: true }],
      [YAHOO, { tag: '-' }],
      ['zoho.com zohomail.com zoho.eu zoho.in zohomail.eu zohomail.in zoho.com.au', { tag: '+' }],
      ['hey.com duck.com', { tag: '+' }],
      ['pobox.com runbox.com posteo.de posteo.net mailbox.org', { tag: '+' }],
    ] as [string, Provider][]
  ).flatMap(([domains, provider]) =>
    domains.split(/\s/).map((domain) => [domain, provider] as const),
  ),
)

/** RFC 5321, 4.5.3.1. */
const LONGEST_LOCAL = 64
const LONGEST_DOMAIN = 253
/** With a display name and quotes. */
const LONGEST_TEXT = 400
const ATOM = "[a-z0-9!#$%&'*+/=?^_`{|}~\\u0080-\\uffff-]"
const DOT_ATOM = new RegExp(`^${ATOM}+(?:\\.${ATOM}+)*$`)
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
/** Names that are typed to get past a form, and the domains that go with them. */
const NOBODY = new Set([
  'none',
  'noemail',
  'nomail',
  'noname',
  'noreply',
  'na',
  'no',
  'nobody',
  'test',
  'email',
  'fake',
])
const NOBODY_ANYWHERE = new Set(['none', 'noemail', 'nomail', 'noreply', 'no-reply', 'donotreply'])

/**
 * The string that every spelling of a mailbox shares: `Pat.Doe+guns@GoogleMail.com` is
 * `patdoe@gmail.com`. A domain of no known provider is lower-cased and written in ASCII, its names
 * are lower-cased only. Null for what is not an address, and for what everybody types who has none
 * (`none@none.com`).
 */
export function normalizeEmail(text: string): string | null {
  const bare = bareAddress(text)
  if (bare === null) return null
  const at = bare.lastIndexOf('@')
  const local = localPart(bare.slice(0, at))
  const domain = domainOf(bare.slice(at + 1))
  if (local === null || domain === null) return null
  const label = domain.slice(0, domain.indexOf('.'))
  if (NOBODY_ANYWHERE.has(local) || (NOBODY.has(local) && local === label)) return null
  return canonical(local, domain)
}

/**
 * The address itself: without `mailto:` and what follows `?`, `Pat Doe <...>` and blanks; null
 * where there is none.
 */
function bareAddress(text: string): string | null {
  if (text.length > LONGEST_TEXT) return null
  let bare = text.trim()
  if (bare.endsWith('>') && bare.includes('<'))
    bare = bare.slice(bare.lastIndexOf('<') + 1, -1).trim()
  if (/^mailto:/i.test(bare)) bare = bare.slice(7).replace(/\?.*$/, '')
  const at = bare.lastIndexOf('@')
  return at > 0 && at < bare.length - 1 ? bare : null
}

/** Lower case; quotes that are not needed are taken away. Null for what no name can be. */
function localPart(text: string): string | null {
  if (text.length > LONGEST_LOCAL) return null
  const local = text.normalize('NFC').toLowerCase()
  // No blank and nothing invisible, such as a zero-width space, belongs in a name.
  if (!isAscii(local) && /[\p{Z}\p{C}]/u.test(local)) return null
  if (DOT_ATOM.test(local)) return local
  // oxlint-disable-next-line no-control-regex -- a quoted name may hold none
  if (!/^"(?:[^"\\\u0000-\u001f\u007f]|\\[\u0020-\u007e])+"$/.test(local)) return null
  const inner = local.slice(1, -1).replaceAll(/\\(.)/g, '$1')
  return DOT_ATOM.test(inner) ? inner : `"${inner.replaceAll(/["\\]/g, '\\$&')}"`
}

/** In ASCII, without the dot of the root; null where it is not a name of two labels at least. */
function domainOf(text: string): string | null {
  const plain = text.endsWith('.') ? text.slice(0, -1) : text
  const domain = isAscii(plain) ? plain.toLowerCase() : domainToASCII(plain)
  if (domain.length > LONGEST_DOMAIN) return null
  const labels = domain.split('.')
  return labels.length >= 2 &&
    labels.every((label) => LABEL.test(label)) &&
    /^(?:[a-z]{2,63}|xn--.+)$/.test(labels.at(-1) ?? '')
    ? domain
    : null
}

/** By the provider's rules; null where nothing is left of the name. */
function canonical(name: string, host: string): string | null {
  let [local, domain] = [name, host]
  let provider = PROVIDERS.get(domain)
  if (!provider) {
    const dot = domain.indexOf('.')
    const parent = PROVIDERS.get(domain.slice(dot + 1))
    if (!parent?.subdomains || domain.startsWith('www.')) return `${local}@${domain}`
    provider = parent
    local = domain.slice(0, dot)
    domain = domain.slice(dot + 1)
  }
  // A quoted name says every character on purpose.
  if (local.startsWith('"')) return `${local}@${provider.canonical ?? domain}`
  const tag = provider.tag === undefined ? -1 : local.indexOf(provider.tag)
  if (tag >= 0) local = local.slice(0, tag)
  if (provider.ignored) local = local.replaceAll(provider.ignored, '')
  if (provider.alike) local = local.replaceAll(...provider.alike)
  return local === '' || local.endsWith('.') ? null : `${local}@${provider.canonical ?? domain}`
}
