import type { DealerSettings, DealerView, NewDealer } from '../../../lib/ffls/dealer-settings.js'
import { addDealer, setDealer } from '../../../lib/ffls/dealer-settings.js'
import { DEALER_TYPES } from '../../../lib/ffls/license.js'
import type { ListOptions, ListReport } from '../../../lib/ffls/lists/report.js'
import type { ImportResult } from '../../../lib/ffls/lists/import.js'
import type { OnFileResult } from '../../../lib/ffls/on-file.js'
import type { App } from '../../../lib/app/open.js'
import { UsageError, list, optional, required } from '../command.js'
import type { Command, Invocation, Output } from '../command.js'
import { perform, withApp } from '../with-app.js'

const ADD =
  'quartermaster ffls add 1-57-033-01-9E-67890 --name "Pine Ridge Arms LLC" --street "12 Mill Rd" --city Macon --state GA --zip 31201 --reason "license seen, issued this week"'
const LICENSE = {
  '<LICENSE>': 'license number; unknown digits may be X, or region-district-sequence alone',
}
const LIST_OPTIONS = { 'as-of': { type: 'string' }, types: { type: 'string' } } as const
const LIST_HELP = {
  'as-of': "when the list was made; the file's modification time by default",
  types: `types of license to take; ${DEALER_TYPES.join(',')} by default`,
}
/** Rows that people are shown. */
const SHOWN = 20

const DRY = 'This was a dry run: nothing was changed.'

const count = (n: number) => n.toLocaleString('en-US')

function listOptions({ values, dryRun, out }: Invocation): ListOptions {
  const text = optional(values, 'as-of')
  const asOf = text === undefined ? undefined : Date.parse(text)
  if (Number.isNaN(asOf))
    throw new UsageError(
      `--as-of "${text}" is not a date; write 2026-11-21 or 2026-11-21T10:00:00Z`,
    )
  const bars = { reading: out.progress('reading'), writing: out.progress('writing') }
  return {
    dryRun,
    ...(asOf !== undefined && { asOf }),
    onProgress: (stage, done, total, rows) => bars[stage](done, total, rows),
  }
}

function typesIn(values: Invocation['values']): { types?: string[] } {
  const types = optional(values, 'types')
  return types === undefined ? {} : { types: types.split(',') }
}

function showRows(out: Output, report: ListReport): void {
  const skipped = Object.values(report.skipped).reduce((sum, n) => sum + n, 0)
  out.line(
    `${count(report.rows)} rows as of ${report.as_of.slice(0, 10)}: ${count(skipped)} of other types skipped, ${count(report.rejected)} rejected.`,
  )
  if (report.cut_off)
    out.line(
      `The list is cut off: line ${report.cut_off.line} was not taken (${report.cut_off.text.slice(0, 80)}).`,
    )
  if (report.rejected > 0) {
    out.table(Object.entries(report.reasons).map(([reason, rows]) => ({ rows, reason })))
    out.table(
      report.rejects
        .slice(0, SHOWN)
        .map(({ line, reason, text }) => ({ line, reason, text: text.slice(0, 80) })),
    )
  }
}

function showSome(
  out: Output,
  title: string,
  all: number,
  rows: readonly Record<string, unknown>[],
): void {
  if (all === 0) return
  out.line(`${title}${all > SHOWN ? `, the first ${SHOWN} of ${count(all)}` : ''}:`)
  out.table(rows.slice(0, SHOWN))
}

/** Takes a list in, and shows what became of its rows and of the dealers. */
async function takeList<R extends ListReport>(
  invocation: Invocation,
  take: (app: App, options: ListOptions) => Promise<R>,
  show: (out: Output, result: R) => void,
): Promise<void> {
  const { out, dryRun } = invocation
  const options = listOptions(invocation)
  await withApp(invocation.dir, async (app) => {
    const result = await take(app, options)
    showRows(out, result)
    show(out, result)
    if (dryRun) out.line(DRY)
    out.result({ ...result, dry_run: dryRun })
  })
}

async function importList(invocation: Invocation): Promise<void> {
  const {
    args: [file],
    values,
  } = invocation
  const input = {
    file: file!,
    ...typesIn(values),
    revoke: list(values, 'revoke'),
    accept: values['accept'] === true,
  }
  await takeList(invocation, (app, options) => app.operator.ffls.import(input, options), showImport)
}

function showImport(out: Output, result: ImportResult): void {
  const { added, renewed, changed, unchanged, outdated, gone, kept } = result
  out.line(
    `Dealers: ${count(added)} new, ${count(renewed)} renewed, ${count(changed)} changed, ${count(unchanged)} unchanged, ${count(gone)} gone${outdated > 0 ? `, ${count(outdated)} known from a newer list` : ''}.`,
  )
  showSome(out, 'Renewed', renewed, result.renewals)
  showSome(out, 'Gone', gone, result.losses)
  if (kept.length > 0) {
    out.line(
      'These dealers are not in the list and stay, since it is not shown to be whole. The next list decides, or --accept for all, or --revoke STATE for one:',
    )
    out.table(kept.map((state) => ({ ...state })))
  }
}

async function importMarks(invocation: Invocation): Promise<void> {
  const {
    args: [distid, file],
    values,
  } = invocation
  const input = {
    distid: distid!,
    file: file!,
    ...typesIn(values),
    force: values['force'] === true,
  }
  await takeList(invocation, (app, options) => app.operator.ffls.onFile(input, options), showMarks)
}

function showMarks(
  out: Output,
  { distid, marked, unchanged, unmarked, added, renewed, unknown, kept, renewals }: OnFileResult,
): void {
  out.line(
    `On file with ${distid}: ${count(marked)} new, ${count(unchanged)} as before, ${count(unmarked)} no longer. Dealers: ${count(added)} added, ${count(renewed)} renewed${unknown > 0 ? `, ${count(unknown)} unknown so far` : ''}.`,
  )
  showSome(out, 'Renewed', renewed, renewals)
  if (kept)
    out.line(
      `${count(kept.missing)} of ${count(kept.known)} marks stay although the list lacks them: ${kept.reason}; --force takes them away.`,
    )
}

function yesNo(values: Invocation['values'], name: string): boolean | undefined {
  const value = optional(values, name)
  if (value !== undefined && value !== 'yes' && value !== 'no')
    throw new UsageError(`--${name} must be yes or no`)
  return value === undefined ? undefined : value === 'yes'
}

/** `none` takes a value away. */
function orNone(values: Invocation['values'], name: string): string | null | undefined {
  const value = optional(values, name)
  return value?.toLowerCase() === 'none' ? null : value
}

function dollars(values: Invocation['values'], name: string): number | null | undefined {
  const value = orNone(values, name)
  if (typeof value !== 'string') return value
  if (!/^\$?\d+(\.\d{1,2})?$/.test(value))
    throw new UsageError(
      `--${name} "${value}" is not an amount of dollars; write 25 or 25.50, or none`,
    )
  return Number(value.replace('$', ''))
}

function settingsIn(values: Invocation['values']): DealerSettings {
  const settings = {
    fee_longgun: dollars(values, 'fee-longgun'),
    fee_handgun: dollars(values, 'fee-handgun'),
    email: orNone(values, 'email'),
    phone: orNone(values, 'phone'),
    residential: yesNo(values, 'residential'),
    contact_required: yesNo(values, 'contact-required'),
    on_file: yesNo(values, 'on-file'),
    sot: yesNo(values, 'sot'),
    valid_until: orNone(values, 'valid-until'),
    reason: optional(values, 'reason'),
  }
  return Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== undefined),
  ) as DealerSettings
}

function showDealer({ out, dryRun }: Invocation, dealer: DealerView): void {
  const text = (value: unknown) =>
    Array.isArray(value)
      ? value.join(', ') || '-'
      : value === null
        ? '-'
        : value === true
          ? 'yes'
          : value === false
            ? 'no'
            : String(value)
  for (const [name, value] of Object.entries(dealer)) out.line(`${name.padEnd(18)}${text(value)}`)
  if (dryRun) out.line(DRY)
  out.result({ ...dealer, ...(dryRun && { dry_run: true }) })
}

async function set(invocation: Invocation): Promise<void> {
  const settings = settingsIn(invocation.values)
  if (Object.keys(settings).every((name) => name === 'reason'))
    throw new UsageError('there is nothing to set. See `quartermaster ffls set --help`.')
  await withApp(invocation.dir, async (app) =>
    showDealer(
      invocation,
      await perform(app, invocation.dryRun, (ctx) => setDealer(ctx, invocation.args[0]!, settings)),
    ),
  )
}

async function add(invocation: Invocation): Promise<void> {
  const {
    values,
    args: [license],
  } = invocation
  const need = (name: string) => required(values, name, ADD)
  const [business, phone, email] = [
    optional(values, 'business'),
    optional(values, 'phone'),
    optional(values, 'email'),
  ]
  const input: NewDealer = {
    license_number: license!,
    name: need('name'),
    street: need('street'),
    city: need('city'),
    state: need('state'),
    zip: need('zip'),
    reason: need('reason'),
    ...(business !== undefined && { business_name: business }),
    ...(phone !== undefined && { phone }),
    ...(email !== undefined && { email }),
  }
  await withApp(invocation.dir, async (app) =>
    showDealer(invocation, await perform(app, invocation.dryRun, (ctx) => addDealer(ctx, input))),
  )
}

const text = { type: 'string' } as const

export const fflCommands: Command[] = [
  {
    name: 'ffls import',
    summary: "Take in the ATF's monthly list of licensees",
    effect: 'writes',
    positionals: ['<FILE>'],
    options: {
      ...LIST_OPTIONS,
      revoke: { type: 'string', multiple: true },
      accept: { type: 'boolean' },
    },
    help: {
      '<FILE>': 'the list as text (tab, comma or pipe), plain or gzip, or as .xlsx',
      ...LIST_HELP,
      revoke: 'take dealers off the list in this state whatever the list holds; may be repeated',
      accept: 'the list is whole: take off all dealers that it lacks',
    },
    example: 'quartermaster ffls import ./1126-ffl-list.txt --as-of 2026-11-10',
    run: importList,
  },
  {
    name: 'ffls on-file',
    summary: "Take in a distributor's list of the dealers whose license it has",
    effect: 'writes',
    positionals: ['<DISTID>', '<FILE>'],
    options: { ...LIST_OPTIONS, force: { type: 'boolean' } },
    help: {
      '<DISTID>': '`distributors list` shows them',
      '<FILE>': 'rows of NAME;STREET;CITY;ST;ZIP;LICENSE, or one license number a line',
      ...LIST_HELP,
      force: 'take marks away however few dealers the list holds',
    },
    example: 'quartermaster ffls on-file RSR ./rsr-ffl-transfer-dealers.txt',
    run: importMarks,
  },
  {
    name: 'ffls set',
    summary: 'Set what you know of a dealer; lists leave it as it is',
    effect: 'writes',
    positionals: ['<LICENSE>'],
    options: {
      'fee-longgun': text,
      'fee-handgun': text,
      email: text,
      phone: text,
      residential: text,
      'contact-required': text,
      'on-file': text,
      sot: text,
      'valid-until': text,
      reason: text,
    },
    help: {
      ...LICENSE,
      'fee-longgun': 'transfer fee in dollars, or none',
      'fee-handgun': 'transfer fee in dollars, or none',
      email: 'address, or none',
      phone: '10 digits, and no list changes it; none leaves it to the lists',
      residential: 'yes or no: home-based',
      'contact-required': 'yes or no: call before shipping',
      'on-file': 'yes or no: you have a copy of the license',
      sot: 'yes or no: takes in NFA items',
      'valid-until': 'day until which the license is valid beyond its own date, or none',
      reason: 'why; needed for --valid-until',
    },
    example:
      'quartermaster ffls set 1-57-67890 --fee-longgun 25 --fee-handgun 20 --email front@dealer.example --on-file yes',
    run: set,
  },
  {
    name: 'ffls add',
    summary: 'Add a dealer that no list has',
    effect: 'writes',
    positionals: ['<LICENSE>'],
    options: {
      name: text,
      business: text,
      street: text,
      city: text,
      state: text,
      zip: text,
      phone: text,
      email: text,
      reason: text,
    },
    help: {
      '<LICENSE>': 'license number in full',
      name: 'name on the license',
      business: 'trade name',
      street: 'premise',
      city: 'premise',
      state: 'two letters',
      zip: '5 or 9 digits',
      phone: '10 digits',
      email: 'address',
      reason: 'why; kept in the audit',
    },
    example: ADD,
    run: add,
  },
  {
    name: 'ffls show',
    summary: 'One dealer, with what you set and who has its license on file',
    effect: 'reads',
    positionals: ['<LICENSE>'],
    help: LICENSE,
    example: 'quartermaster ffls show 1-57-67890',
    run: (invocation) =>
      withApp(invocation.dir, async (app) =>
        showDealer(
          { ...invocation, dryRun: false },
          await app.operator.ffls.show(invocation.args[0]!),
        ),
      ),
  },
]
