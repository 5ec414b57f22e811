/**
 * The pages of the guide, in reading order: the one list that navigation, routes, llms.txt and
 * their tests come from. To add a page: a line in its group and `data/guide/NAME.md`, whose first heading
 * is the title.
 */
export interface Page {
  /** Its file is `data/guide/NAME.md`. */
  name: string
  /** Its first heading. */
  title: string
  /** One line for whoever chooses what to read. */
  summary: string
}

/** Pages for one kind of reader; the list of pages has its title above them. */
export interface Group {
  title: string
  pages: readonly Page[]
}

/** The page that `/v1/docs/guide` shows. */
export const FIRST_PAGE = 'guide'

export const GROUPS: readonly Group[] = [
  {
    title: 'Build a shop',
    pages: [
      {
        name: FIRST_PAGE,
        title: 'Integration guide',
        summary:
          "From the first call to a tracked order in 20 minutes: what a shop's developer reads first",
      },
      {
        name: 'errors',
        title: 'Errors and retries',
        summary: 'Every error code, what it means, and whether, when and how to try again',
      },
      {
        name: 'catalog',
        title: 'Catalog: search and import',
        summary:
          'Search, facets, the bulk export as one Parquet file, and three programs that keep a ' +
          "shop's copy of it current",
      },
      {
        name: 'configuration',
        title: 'Configuration',
        summary: 'The one document that says what a shop sees, at which prices, and how it ships',
      },
      {
        name: 'restrictions',
        title: 'Restrictions',
        summary:
          'What may be sold where, how a rule decides, and what to do with an item that is ' +
          'held for a person',
      },
      {
        name: 'dealers',
        title: 'Dealers and their licenses',
        summary:
          'The directory of dealers that firearms ship to, where it comes from, and documents',
      },
      {
        name: 'orders',
        title: 'Orders: what we promise, and what to do when something goes wrong',
        summary: 'What holds whatever breaks, what cannot hold, and what caller and operator do',
      },
      {
        name: 'fraud',
        title: 'Fraud signals: what is shared, and what nobody learns',
        summary:
          'What matches, what a caller learns, what stays hidden, and sharing between installations',
      },
      {
        name: 'analytics',
        title: 'Analytics: what the numbers mean',
        summary: 'Seven metrics with their formulas, and how sales are inferred from stock',
      },
      {
        name: 'client',
        title: 'Clients',
        summary:
          'The API as typed functions over HTTP or in your own process: what is repeated, and ' +
          'what never is',
      },
      {
        name: 'testing',
        title: 'Testing a shop',
        summary:
          'A whole installation for a test of yours, in milliseconds: a clock that the test ' +
          'moves, and an order that ships',
      },
    ],
  },
  {
    title: 'Distributors',
    pages: [
      {
        name: 'simulator',
        title: 'The simulated distributors',
        summary: 'How the played distributors behave, and every scenario that can be asked of them',
      },
      {
        name: 'rsr',
        title: 'RSR Group',
        summary: 'What to ask for, what to enter, how orders go out, and what is not known',
      },
      {
        name: 'lipseys',
        title: "Lipsey's",
        summary: 'What to ask for, what to enter, how orders go out, and what is not known',
      },
      {
        name: 'chattanooga',
        title: 'Chattanooga Shooting Supplies',
        summary: 'What to ask for, what to enter, how orders go out, and what is not known',
      },
      {
        name: 'sports-south',
        title: 'Sports South',
        summary: 'What to ask for, what to enter, how orders go out, and what is not known',
      },
      {
        name: 'zanders',
        title: 'Zanders',
        summary: 'What to ask for, what to enter, how orders go out, and what is not known',
      },
      {
        name: 'second-amendment',
        title: '2nd Amendment Wholesale',
        summary: 'What to ask for, what to enter, how orders go out, and what is not known',
      },
      {
        name: 'bill-hicks',
        title: 'Bill Hicks',
        summary: 'What to ask for, what to enter, how orders go out, and what is not known',
      },
      {
        name: 'orion',
        title: 'Orion Wholesale',
        summary: 'What to ask for, what to enter, how orders go out, and what is not known',
      },
      {
        name: 'hicks-inc',
        title: 'Hicks Inc.',
        summary: 'What to ask for, what to enter, how orders go out, and what is not known',
      },
      {
        name: 'davidsons',
        title: "Davidson's",
        summary: 'How its files come and are read; orders are placed by hand',
      },
      {
        name: 'amchar',
        title: 'AmChar',
        summary: 'What to enter, and how to add its feed',
      },
      {
        name: 'camfour',
        title: 'CamFour',
        summary: 'What to enter, and how to add its feed',
      },
    ],
  },
  {
    title: 'Operate',
    pages: [
      {
        name: 'first-feed',
        title: 'From your own feed to an order',
        summary:
          "A distributor's file becomes your own catalog: the commands from an empty folder, " +
          'and which files can be read',
      },
      {
        name: 'operating',
        title: 'Operating',
        summary:
          'The state folder, keys, feeds, backups and the restore drill, proxies, logs, and ' +
          'whether all is well',
      },
      {
        name: 'console',
        title: 'The console',
        summary: "The operator's page: who may use it, from where, and the calls that it makes",
      },
      {
        name: 'deploying',
        title: 'Deploying',
        summary:
          'An archive that brings its own Node, a container, and tested files for systemd, nginx, ' +
          'Caddy and logrotate',
      },
      {
        name: 'several-nodes',
        title: 'Several nodes',
        summary:
          'When one machine is not enough, and mostly it is: PostgreSQL, a bucket, two nodes',
      },
      {
        name: 's3',
        title: 'Files in S3',
        summary: 'Exports and documents in a bucket instead of the state folder',
      },
      {
        name: 'soak',
        title: 'Under load',
        summary:
          'Answer times, memory and orders of a server that is loaded, restarted and filled up',
      },
      {
        name: 'faults',
        title: 'Faults: what was broken on purpose, and what came of it',
        summary:
          'Killed processes, full disks, damaged files, failing distributors, floods: what the ' +
          'program does, and the test that proves it',
      },
    ],
  },
  {
    title: 'Build on it',
    pages: [
      {
        name: 'architecture',
        title: 'Architecture',
        summary: 'How the program is put together, and why',
      },
      {
        name: 'code',
        title: 'Read the code in an hour',
        summary: 'A search, an order and a row of a feed, walked from function to function',
      },
      {
        name: 'add-a-distributor',
        title: 'Add a distributor, in code',
        summary: 'A whole connector as an example, and what every connector was tried in',
      },
      {
        name: 'add-a-feed',
        title: 'Add a feed, and orders by file, without code',
        summary:
          'A distributor by a document: connections, rows, mapping, orders as files or messages',
      },
      {
        name: 'extending',
        title: 'Add an endpoint, a distributor, a rule',
        summary: 'What each takes',
      },
    ],
  },
  {
    title: 'About it',
    pages: [
      {
        name: 'decisions',
        title: 'Decisions',
        summary: 'How the contract is read where it is silent, and every departure from it',
      },
      {
        name: 'promises',
        title: 'Promises',
        summary: 'What holds whatever breaks: the whole list, and what nobody can promise',
      },
      {
        name: 'performance',
        title: 'Performance',
        summary: 'What was measured, against what, and which goals are missed',
      },
      {
        name: 'packages',
        title: 'Packages',
        summary: 'Every package that the program needs, with its reason',
      },
    ],
  },
]

export const PAGES: readonly Page[] = GROUPS.flatMap(({ pages }) => pages)

/** Where a page is shown. */
export function addressOf({ name }: Pick<Page, 'name'>): string {
  return name === FIRST_PAGE ? '/v1/docs/guide' : `/docs/guide/${name}`
}

/** Where its Markdown is. */
export function markdownAddressOf({ name }: Pick<Page, 'name'>): string {
  return `/docs/guide/${name}.md`
}
