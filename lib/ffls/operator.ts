/** What the operator does with dealers. */
import { addDealer, setDealer, viewDealer } from './dealer-settings.js'
import { importDealers } from './lists/import.js'
import { importOnFile } from './on-file.js'

export const ffls = {
  import: importDealers,
  onFile: importOnFile,
  set: setDealer,
  add: addDealer,
  show: viewDealer,
}
