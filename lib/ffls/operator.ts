/** What the operator does with dealers. */
import { importOnFileByAccount } from './account-list.js'
import { addDealer, setDealer, viewDealer } from './dealer-settings.js'
import { expiringLicenses } from './expiring.js'
import { heldRemovals } from './lists/held.js'
import { importDealers } from './lists/import.js'
import { importOnFile } from './on-file.js'
import { documentForOperator, removeDocument, storeDocument } from './documents.js'
import { searchDealers } from './search.js'

export const ffls = {
  import: importDealers,
  onFile: importOnFile,
  onFileByAccount: importOnFileByAccount,
  set: setDealer,
  add: addDealer,
  show: viewDealer,
  held: heldRemovals,
  expiring: expiringLicenses,
  search: searchDealers,
  document: documentForOperator,
  storeDocument,
  removeDocument,
}
