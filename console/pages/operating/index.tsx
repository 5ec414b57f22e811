/** Operating: health, backups, the log, the audit, events, jobs, people, and what runs here. */
import type { FunctionComponent } from 'preact'
import { linkTo, place } from '../../core/router.js'
import { PageHead, Tabs } from '../../parts/basics.js'
import { texts } from '../../texts.js'
import { About } from './about.js'
import { Audit } from './audit.js'
import { Backups } from './backups.js'
import { Events } from './events.js'
import { Jobs } from './jobs.js'
import { Log } from './log.js'
import { People } from './people.js'
import { Doctor } from './doctor.js'

const t = texts.operating

const VIEWS = {
  doctor: Doctor,
  backups: Backups,
  log: Log,
  jobs: Jobs,
  events: Events,
  audit: Audit,
  people: People,
  about: About,
} as const satisfies Record<string, FunctionComponent>
type View = keyof typeof VIEWS

export function Operating() {
  const [, given = 'doctor'] = place.value.path
  const view = (Object.keys(VIEWS) as View[]).find((one) => one === given) ?? 'doctor'
  const Current = VIEWS[view]
  return (
    <>
      <PageHead title={texts.pages.operating} question={t.question} />
      <Tabs
        label={texts.pages.operating}
        tabs={(Object.keys(VIEWS) as View[]).map((one) => ({
          href: linkTo(['operating', one]),
          label: t.views[one],
          isCurrent: one === view,
        }))}
      />
      <Current />
    </>
  )
}
