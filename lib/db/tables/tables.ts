/** Every table, as Kysely sees it. Made from the migrations by `npm run tables`. */
import type { JobTable, StateTable } from './app.js'
import type {
  ApiKeyTable,
  AuditTable,
  DataKeyTable,
  SecretKeyTable,
  SubscriberTable,
} from './accounts.js'
import type {
  ConsoleLinkTable,
  ConsolePlaceTable,
  ConsoleSessionTable,
  ConsoleTryTable,
  ConsoleUserTable,
} from './console.js'
import type { AlarmTable, EventDeliveryTable, EventReceiverTable, EventTable } from './events.js'
import type {
  ConfigurationHistoryTable,
  ConfigurationTable,
  CredentialCheckTable,
} from './configuration.js'
import type { FeedHoldTable, FeedImportTable, FeedSourceTable } from './feeds.js'
import type {
  DealerDocumentTable,
  DealerListTable,
  DealerOnFileTable,
  DealerTable,
} from './ffls.js'
import type {
  ActiveRuleSetTable,
  RuleOverrideTable,
  RuleSetTable,
  SettingTable,
} from './restrictions.js'
import type {
  DistributorModeTable,
  JournalTable,
  OrderCountTable,
  OrderEngineTable,
  PlacementTable,
  PurchaseOrderTable,
  TranscriptTable,
} from './orders.js'
import type {
  FailedPlacementTable,
  FulfillmentChangeTable,
  FulfillmentCountTable,
  FulfillmentOrderTable,
  FulfillmentSearchContentTable,
  FulfillmentSearchTable,
  LaneStatusTable,
  MonitorTable,
  ParcelTable,
} from './fulfillment.js'
import type {
  FraudEvidenceTable,
  FraudInstallationTable,
  FraudPartnerTable,
  FraudReportTable,
  FraudSignalTable,
  FraudUseTable,
} from './fraud.js'
import type {
  ExportFileTable,
  ExportPollTable,
  FraudCheckTable,
  FraudTryTable,
  UsageTable,
} from './meter.js'
import type { RestrictionDecisionTable } from './decisions.js'

/** Of quartermaster.db, the system of record. */
export interface Tables {
  state: StateTable
  job: JobTable
  subscriber: SubscriberTable
  secret_key: SecretKeyTable
  data_key: DataKeyTable
  api_key: ApiKeyTable
  audit: AuditTable
  console_user: ConsoleUserTable
  console_session: ConsoleSessionTable
  console_link: ConsoleLinkTable
  console_try: ConsoleTryTable
  console_place: ConsolePlaceTable
  event: EventTable
  alarm: AlarmTable
  event_receiver: EventReceiverTable
  event_delivery: EventDeliveryTable
  configuration: ConfigurationTable
  configuration_history: ConfigurationHistoryTable
  credential_check: CredentialCheckTable
  feed_source: FeedSourceTable
  feed_import: FeedImportTable
  feed_hold: FeedHoldTable
  dealer: DealerTable
  dealer_on_file: DealerOnFileTable
  dealer_document: DealerDocumentTable
  dealer_list: DealerListTable
  rule_set: RuleSetTable
  active_rule_set: ActiveRuleSetTable
  rule_override: RuleOverrideTable
  setting: SettingTable
  distributor_mode: DistributorModeTable
  transcript: TranscriptTable
  placement: PlacementTable
  purchase_order: PurchaseOrderTable
  order_count: OrderCountTable
  journal: JournalTable
  order_engine: OrderEngineTable
  fulfillment_order: FulfillmentOrderTable
  fulfillment_count: FulfillmentCountTable
  fulfillment_search: FulfillmentSearchTable
  fulfillment_search_content: FulfillmentSearchContentTable
  failed_placement: FailedPlacementTable
  parcel: ParcelTable
  lane_status: LaneStatusTable
  fulfillment_change: FulfillmentChangeTable
  monitor: MonitorTable
  fraud_report: FraudReportTable
  fraud_signal: FraudSignalTable
  fraud_evidence: FraudEvidenceTable
  fraud_use: FraudUseTable
  fraud_partner: FraudPartnerTable
  fraud_installation: FraudInstallationTable
}

/** Of meter.db: what is counted. Several nodes have it in the system of record. */
export interface MeterTables {
  usage: UsageTable
  export_poll: ExportPollTable
  export_file: ExportFileTable
  fraud_check: FraudCheckTable
  fraud_try: FraudTryTable
}

/** Of decisions.db, the same. */
export interface DecisionTables {
  restriction_decision: RestrictionDecisionTable
}
