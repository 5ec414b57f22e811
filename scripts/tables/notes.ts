/**
 * What the migrations do not say of the tables of quartermaster.db: in which file of
 * `lib/db/tables` each has its type, what a column means, and where its type is narrower than its
 * SQL. `npm run tables` writes the types from both.
 */

/** What a column means; or that, with its type. */
export type ColumnNote =
  | string
  | {
      about?: string
      /** Narrower than what the SQL says: a type of `column-types.ts`, or one that is written out. */
      type?: string
      /** The name under which the values that its CHECK allows are exported. */
      name?: string
      /** An INTEGER PRIMARY KEY that every insert gives: SQLite is not to choose it. */
      isGiven?: true
    }

export interface TableNote {
  about?: string
  columns?: Record<string, ColumnNote>
}

/** By file, then by table. */
export const NOTES: Record<string, Record<string, TableNote>> = {
  app: {
    state: {
      about:
        'What a process keeps in memory, each with a number that a writer raises so that other ' +
        'processes read it again.',
      columns: { name: { type: 'StateName' } },
    },
    job: { columns: { failures: 'In a row; 0 after a run that ended well.' } },
  },

  accounts: {
    subscriber: { about: 'Times are milliseconds since 1970.' },
    secret_key: { about: 'Which secret key wrapped the data keys.' },
    data_key: {
      columns: {
        owner: "A subscriber's id, or `operator`.",
        wrapped: 'Wrapped by the secret key of the installation.',
      },
    },
    api_key: {
      columns: {
        tier: { name: 'Tier', about: 'Tiers of a key\'s limits (contract "Limits").' },
        hash: 'SHA-256 of the whole key; the key itself is shown once and kept nowhere.',
        po_tag:
          'First and last two characters, upper-cased: PO numbers carry them (contract "Place order").',
        allowlist: 'JSON array of addresses and CIDR ranges.',
      },
    },
    audit: {
      columns: {
        detail: 'JSON.',
        mac: 'Closes the row, and chains it to the one before.',
      },
    },
  },

  console: {
    console_user: {
      about: 'A person who may use the console.',
      columns: {
        password: 'scrypt, with its parameters and salt; null until it is set.',
        totp: 'The secret of the second factor, sealed; null where there is none.',
        totp_step: 'The last step of 30 seconds whose code was taken: none is taken twice.',
      },
    },
    console_session: {
      about: 'A sign-in that holds until it expires or is revoked.',
      columns: {
        hash: 'SHA-256 of the token; the token itself is in the cookie alone.',
        confirmed_until: 'Until then the password need not be given again.',
        agent: 'What the browser calls itself.',
      },
    },
    console_link: {
      about: 'A link that works once.',
      columns: { hash: 'SHA-256 of its token.' },
    },
    console_try: {
      about: 'Wrong passwords since the last right one, by the name that was given.',
    },
    console_place: { about: 'Where the console was served last: one row.' },
  },

  events: {
    event: {
      about: 'What an operator is told.',
      columns: {
        uid: 'By which a receiver knows one that it gets twice.',
        subject: 'Tells one event of a kind from another.',
        state: {
          name: 'EventState',
          about: 'Told once; or an alarm was raised, or has ended.',
        },
        severity: { name: 'EventSeverity', about: 'How much it matters.' },
        mend: 'A command that mends it, or shows what to decide.',
      },
    },
    alarm: { about: 'What is wrong at the moment.' },
    event_receiver: {
      about: 'Who is told of events, beside the log.',
      columns: {
        kind: { name: 'ReceiverKind', about: 'How events reach a receiver.' },
        address: 'A URL or an address of mail, sealed.',
        secret: 'With which messages to a webhook are signed, sealed.',
        allow_private: '1: the URL may be in this machine or its own network.',
      },
    },
    event_delivery: {
      about: 'What has reached whom.',
      columns: {
        state: { name: 'DeliveryState', about: 'Whether a receiver has an event.' },
        fault: 'Why the last attempt failed.',
      },
    },
  },

  configuration: {
    configuration: {
      columns: {
        document: 'The document as JSON, its secrets sealed.',
        saved_by: 'Who saved it: the id of a key, or `cli`, `library`.',
      },
    },
    configuration_history: { about: 'Every version that was saved, also the one of now.' },
    credential_check: {
      columns: {
        fingerprint: 'Digest of the credentials that were checked: a change withdraws the result.',
      },
    },
  },

  feeds: {
    feed_source: {
      columns: {
        subscriber_id: "Null for the operator's source, which all subscribers share.",
        location:
          'Where to pull from, sealed; null for a distributor that is only imported by hand.',
        allow_private: '1: the location may be in this machine or its own network.',
        last_result: 'The last FeedResult or FailedPull as JSON.',
        mark: 'JSON of a KnownMark: how the distributor names the feed that was taken in last.',
        failures: 'Pulls in a row that brought nothing; 0 after one that brought a feed.',
        good_at: 'When the last pull began that brought a feed which could be used.',
      },
    },
    feed_import: {},
    feed_hold: {
      about: 'When an account may be asked for a feed again.',
      columns: { account: 'A keyed digest of who logs in, and where.' },
    },
  },

  ffls: {
    dealer: {
      about: 'A dealer of the FFL directory. Dates are `YYYY-MM-DD`, fees cents, flags 0 or 1.',
      columns: {
        id: 'Region, district and sequence of the license: `1-57-67890`.',
        license_number: 'With dashes: `1-57-033-01-7E-67890`.',
        expires_on: "From the license's own code; valid through that day.",
        valid_until: "An operator's later date, or null.",
        premise_zip: '5 digits, or 5+4 with a dash.',
        own_phone: '1: the operator set `voice_phone`, and no list replaces it.',
        marked_on_file: "Marked by the operator; distributors' lists are `dealer_on_file`.",
        listed: '0: gone from the newest list of its state.',
      },
    },
    dealer_on_file: { about: "Whose list says that a dealer's license is on file." },
    dealer_document: {},
    dealer_list: {
      about: 'The last whole list: one row.',
      columns: {
        as_of: 'When it was made, ms.',
        content: 'JSON of a `ListOrder`.',
      },
    },
  },

  restrictions: {
    rule_set: {
      columns: {
        digest: 'SHA-256 of the rules, as they are sorted and written.',
        rules: 'JSON array of rules.',
        origin: "A file's name, or `starter <date>`.",
      },
    },
    active_rule_set: { about: 'The newest row names the set that is active.' },
    rule_override: { columns: { detail: 'JSON: what it applies to.' } },
    setting: { columns: { name: { type: "'enforce_restrictions'" } } },
  },

  orders: {
    distributor_mode: { columns: { mode: { type: 'Mode' } } },
    transcript: {
      about: 'What went over the wire for a purchase order: one send, or one search for it.',
      columns: { payload: 'Sealed JSON of the calls.' },
    },
    placement: {
      about: 'One accepted POST of an order.',
      columns: {
        attempt:
          '1, and one more for every placement of this order_id that was refused: what the PO says as `-2`.',
        mode: { type: 'Mode' },
        request_digest: 'SHA-256 of the request, to tell a retry from another order.',
        holds_id:
          '1 while nobody else may place this order_id: for ever, unless nothing came of it.',
        was_refused: '1: a distributor refused something of it.',
      },
    },
    purchase_order: {
      about:
        'One purchase order: what is sent to a distributor, a shipment part of a fulfillment order.',
      columns: {
        mode: { type: 'Mode' },
        payload: 'The frozen content, sealed: it names a person.',
        payload_digest: 'SHA-256 of the content before it was sealed.',
        state: {
          name: 'PoState',
          about: 'What the sender knows of one purchase order.',
        },
        sends: 'Sends that began.',
        owner: 'Which life of which process is sending it.',
        account:
          'Tells the account that it was first sent with; what another account shows proves nothing.',
        stage: "The distributor's number of a staged order.",
        ever_unknown:
          '1: some send had no known outcome; from then on a refusal alone proves nothing.',
        refusal:
          'How the distributor refused a send that followed one without a known outcome: ' +
          'no proof that it has no order.',
        misses:
          'Looks at the distributor that showed nothing, after it should have; `missed_at` is when the last one was.',
        failures: 'Sends or looks in a row that failed to reach the distributor.',
      },
    },
    order_count: { about: 'One accepted order of a key, for its rolling quotas.' },
    journal: {
      about: 'The order journal as the database has it; the file is its second copy.',
      columns: { seq: { isGiven: true } },
    },
    order_engine: {
      about:
        'Single facts of the order engine: `journaled` (the seq that the file has for sure), ' +
        '`paused` (why nothing is placed), `known_damage` (with which it is placed again).',
      columns: { name: { type: "'journaled' | 'paused' | 'known_damage'" } },
    },
  },

  fulfillment: {
    fulfillment_order: {
      about:
        'One fulfillment order: a group of an order, one record of the history. ' +
        'Times are milliseconds, days `YYYY-MM-DD`, flags 0 or 1.',
      columns: {
        group_no: 'From 0, in the order of the split.',
        mode: { type: 'Mode' },
        visible:
          '0: it produced no distributor order, so it stands among the failed placements and not in the history.',
        order_status: { type: 'OrderStatus' },
        distributor_order_id:
          'The distributor\'s number, several joined by ", "; null until it is known.',
        po_number: 'As sent.',
        po_given: "Before it was shortened and before a second placement's `-2`.",
        ffl: 'License number of the dealer that it ships to, with dashes.',
        dist_order_items: 'JSON of [{distsku, upc, qty}].',
        ship_status: { type: 'ShipStatus' },
      },
    },
    fulfillment_count: {
      about: 'How many visible records of each kind there are in spans of 1 and of 32 days.',
      columns: { days: 'Of the span: 1 or 32.', span: 'Counted from 1970, UTC.' },
    },
    fulfillment_search: {
      about: 'What a search looks into: an index of SQLite over parts of three characters.',
      columns: { rowid: 'Id of the record.', text: { type: 'string' } },
    },
    fulfillment_search_content: {
      about: "The index's own table of texts.",
      columns: { id: 'Id of the record.', c0: { type: 'string', about: 'The text.' } },
    },
    failed_placement: {
      about: 'A placement, or a shipment part of one, that produced no distributor order.',
    },
    parcel: {
      about: 'One parcel; a fulfillment order may have several.',
      columns: {
        status: { type: 'ShipStatus' },
        updated_at: 'When the newest news of it happened.',
        times: 'JSON: when the news that each member shows happened.',
      },
    },
    lane_status: {
      about: 'What a distributor last said of one of its orders, and when that happened.',
      columns: { order_status: { type: 'OrderStatus' } },
    },
    fulfillment_change: { about: 'Every change of a record, kept for good.' },
    monitor: {
      about: "When one subscriber's account at a distributor is looked at next.",
      columns: { mode: { type: 'Mode' }, since: 'News are asked for from this time on.' },
    },
  },

  fraud: {
    fraud_report: {
      columns: {
        subscriber_id: "Who reported it here; null for a partner's.",
        dealer:
          "What counts as one dealer: the subscriber, or a partner's installation and pseudonym.",
        batch:
          "Which taking-in of a partner's batch brought it: only that of `fraud_partner` is seen.",
        key: 'Name of the key under which its signals are kept.',
        mirrors: 'Tells under which other keys its values are kept besides, for the counts.',
        unreadable:
          '1: it could not be opened when its signals were to be hashed anew, so they stay under `key`.',
        strong: 'Digest of its strong signals.',
        payload: "What its signals are made of, sealed for its reporter; empty for a partner's.",
        notes: 'Its notes, sealed apart: they are read in every check of their writer.',
        extra: 'The raw order and its number, sealed apart: nobody reads them along.',
      },
    },
    fraud_signal: {
      about: 'By which reports are found.',
      columns: { hash: { type: 'Hash' } },
    },
    fraud_evidence: {
      about: 'All signals of a report, the strong ones too, for the counts.',
      columns: {
        own: {
          type: '0 | 1',
          about: "1: under the report's own key; 0: under another, for the counts alone.",
        },
        hash: { type: 'Hash' },
      },
    },
    fraud_use: { columns: { kind: { type: "'report' | 'removal'" } } },
    fraud_partner: {
      columns: {
        sender: 'The installation that its batches come from.',
        batch: 'Which taking-in holds.',
        made_at: 'When the batch that was last taken in was made: an older one is a repetition.',
      },
    },
    fraud_installation: {
      about:
        'How partners tell this installation from others; one row, made when it is first asked for.',
    },
  },

  meter: {
    usage: {
      about: 'Calls of a key on a day, in ms, of one endpoint.',
      columns: { endpoint: 'Its route: `GET /v1/products/{upc}`.' },
    },
    export_poll: { about: 'The last answered call of the catalog export.' },
    export_file: {
      about: 'Which files of the object store are whose export.',
      columns: {
        content: 'Digest of what the file was made of: equal views share one file.',
        urls_until: 'When its last URL expires; 0 before there is one.',
      },
    },
    fraud_check: { about: 'One check of a key, for its rolling quota.' },
    fraud_try: {
      about: 'What was tried against a reported signal, from the first try on.',
      columns: {
        overlap: 'The first answer, with `similar`.',
        free: 'JSON: digests of what the first basket held.',
        later: 'JSON: digests of what came later.',
      },
    },
  },

  decisions: {
    restriction_decision: {
      about: 'What was decided, and by which rules.',
      columns: {
        digest: 'Of the active rules.',
        state: 'Codes, with a space between them.',
        items: 'JSON.',
      },
    },
  },
}
