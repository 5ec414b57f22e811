/** Every table of quartermaster.db, as Kysely sees it. The row types stand beside their domains. */
import type { ApiKeyTable, DataKeyTable, SubscriberTable } from './accounts.js'
import type { ConfigurationTable, CredentialCheckTable } from './configuration.js'
import type {
  DealerDocumentTable,
  DealerListTable,
  DealerOnFileTable,
  DealerTable,
} from './ffls.js'
import type { FeedImportTable, FeedSourceTable } from './feeds.js'
import type {
  FailedPlacementTable,
  FulfillmentChangeTable,
  FulfillmentOrderTable,
  LaneStatusTable,
  MonitorTable,
  ParcelTable,
} from './fulfillment.js'
import type {
  DistributorModeTable,
  JournalTable,
  OrderCountTable,
  OrderEngineTable,
  PlacementTable,
  PurchaseOrderTable,
} from './orders.js'
import type {
  FraudEvidenceTable,
  FraudInstallationTable,
  FraudPartnerTable,
  FraudReportTable,
  FraudSignalTable,
  FraudUseTable,
} from './fraud.js'
import type { ActiveRuleSetTable, RuleOverrideTable, RuleSetTable } from './restrictions.js'
import type { Generated } from 'kysely'

export interface Tables {
  state: { name: StateName; value: number }
  subscriber: SubscriberTable
  secret_key: { key_id: string }
  data_key: DataKeyTable
  api_key: ApiKeyTable
  configuration: ConfigurationTable
  configuration_history: ConfigurationTable
  credential_check: CredentialCheckTable
  feed_source: FeedSourceTable
  feed_import: FeedImportTable
  dealer: DealerTable
  dealer_list: DealerListTable
  dealer_on_file: DealerOnFileTable
  dealer_document: DealerDocumentTable
  rule_set: RuleSetTable
  active_rule_set: ActiveRuleSetTable
  rule_override: RuleOverrideTable
  setting: { name: 'enforce_restrictions'; value: string }
  distributor_mode: DistributorModeTable
  placement: PlacementTable
  fulfillment_order: FulfillmentOrderTable
  failed_placement: FailedPlacementTable
  parcel: ParcelTable
  lane_status: LaneStatusTable
  fulfillment_change: FulfillmentChangeTable
  monitor: MonitorTable
  purchase_order: PurchaseOrderTable
  order_count: OrderCountTable
  journal: JournalTable
  order_engine: OrderEngineTable
  fraud_report: FraudReportTable
  fraud_signal: FraudSignalTable
  fraud_evidence: FraudEvidenceTable
  fraud_use: FraudUseTable
  fraud_partner: FraudPartnerTable
  fraud_installation: FraudInstallationTable
  job: {
    name: string
    next_at: number
    last_started_at: number | null
    last_finished_at: number | null
    last_error: string | null
  }
  audit: {
    seq: Generated<number>
    at: number
    actor: string
    action: string
    detail: string
    mac: Generated<string>
  }
}

/**
 * What a process keeps in memory, each with a number that a writer raises so that other processes
 * read it again.
 */
export type StateName = 'keys' | 'documents' | 'sources' | 'dealers' | 'rules' | 'modes' | 'fraud'
