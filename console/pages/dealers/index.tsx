/** Dealers: search, one dealer, licenses that end, and lists to take in. */
import { linkTo, place, refine } from '../../core/router.js'
import { filter, useTyped } from '../../core/use-query.js'
import { isViewer } from '../../core/session.js'
import { useCall } from '../../core/use-call.js'
import { Badge, PageHead, Section, Tabs, When } from '../../parts/basics.js'
import { Select, TextField } from '../../parts/fields.js'
import { Empty, Loaded } from '../../parts/states.js'
import { Pager, Table } from '../../parts/table.js'
import { texts } from '../../texts.js'
import { AddDealer } from './add.js'
import { ImportDealers } from './import.js'
import { OneDealer } from './one.js'

const t = texts.dealers
const SIZE = 50

export function Dealers() {
  const [, what] = place.value.path
  if (what !== undefined && !['expiring', 'import', 'add'].includes(what))
    return <OneDealer license={what} />
  return (
    <>
      <PageHead
        title={texts.pages.dealers}
        question={t.question}
        actions={
          !isViewer.value && (
            <a class="button" href={linkTo(['dealers', 'add'])}>
              {t.add}
            </a>
          )
        }
      />
      <Tabs
        label={texts.pages.dealers}
        tabs={[
          { href: linkTo(['dealers']), label: t.search, isCurrent: what === undefined },
          {
            href: linkTo(['dealers', 'expiring']),
            label: t.expiring,
            isCurrent: what === 'expiring',
          },
          { href: linkTo(['dealers', 'import']), label: t.import, isCurrent: what === 'import' },
        ]}
      />
      {what === undefined && <Search />}
      {what === 'expiring' && <Expiring />}
      {what === 'import' && <ImportDealers />}
      {what === 'add' && <AddDealer />}
    </>
  )
}

function Search() {
  const { query } = place.value
  const [text, setText] = useTyped('q')
  const offset = Number(query['offset'] ?? 0) || 0
  const onFile = query['on_file']
  const reading = useCall('ffls.search', {
    text: query['q'] ?? '',
    ...(onFile && { on_file: onFile === 'yes' }),
    limit: SIZE,
    offset,
  })
  return (
    <>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <div class="first">
          <TextField
            label={texts.words.search}
            type="search"
            placeholder={t.find}
            value={text}
            onInput={setText}
            isSearch
          />
        </div>
        <Select
          label={t.onFile}
          value={onFile ?? ''}
          options={[
            ['', texts.words.any],
            ['yes', texts.words.yes],
            ['no', texts.words.no],
          ]}
          onChange={filter('on_file')}
        />
      </form>
      <Section title={t.list}>
        <Loaded reading={reading} lines={12}>
          {({ dealers, count }) => (
            <>
              <Table
                label={t.list}
                rows={dealers}
                keyOf={({ license_number: license }) => license}
                hrefOf={({ license_number: license }) => linkTo(['dealers', license])}
                empty={<Empty title={t.none}>{t.noneMore}</Empty>}
                columns={[
                  { head: t.name, cell: ({ name }) => name, isLong: true },
                  {
                    head: t.license,
                    cell: ({ license_number: license }) => <code>{license}</code>,
                    isWide: true,
                  },
                  { head: t.place, cell: ({ city, state, zip }) => `${city}, ${state} ${zip}` },
                  { head: t.expires, cell: ({ expires }) => <When at={expires} /> },
                  {
                    head: texts.words.state,
                    cell: ({ active, on_file: isOnFile, sot_on_file: hasSot }) => (
                      <span class="row">
                        <Badge tone={active ? 'good' : 'bad'}>{active ? t.valid : t.ended}</Badge>
                        {isOnFile && <Badge tone="accent">{t.onFile}</Badge>}
                        {hasSot && <Badge tone="accent">SOT</Badge>}
                      </span>
                    ),
                  },
                ]}
              />
              <Pager
                from={offset}
                shown={dealers.length}
                total={count}
                size={SIZE}
                onGo={(from) => refine({ offset: from || undefined })}
              />
            </>
          )}
        </Loaded>
      </Section>
    </>
  )
}

function Expiring() {
  const reading = useCall('ffls.expiring', { days: 60 })
  return (
    <Section title={t.expiring} note={t.expiringNote}>
      <Loaded reading={reading} lines={6}>
        {(dealers) => (
          <Table
            label={t.expiring}
            rows={dealers}
            keyOf={({ license_number: license }) => license}
            hrefOf={({ license_number: license }) => linkTo(['dealers', license])}
            empty={<Empty title={t.noneExpiring}>{t.noneExpiringMore}</Empty>}
            columns={[
              { head: t.name, cell: ({ name }) => name, isLong: true },
              { head: t.place, cell: ({ city, state }) => `${city}, ${state}` },
              { head: t.expires, cell: ({ expiration_date: day }) => <When at={day} /> },
              {
                head: t.daysLeft,
                isNumber: true,
                cell: ({ days_left: days }) => (
                  <Badge tone={days <= 7 ? 'bad' : 'warn'}>{days}</Badge>
                ),
              },
              {
                head: t.lastOrder,
                cell: ({ last_order: order }) => <When at={order} none="–" />,
                isWide: true,
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}
