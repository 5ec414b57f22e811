/** What the operator does with fraud reports, their keys and the partners that share them. */
import { rotateFraudKey } from './keys/rotate.js'
import { fraudQuotas } from './reports/quota.js'
import { eraseReports, fraudStats } from './reports/upkeep.js'
import { importBatch } from './sharing/import.js'
import { addPartner, removePartner } from './sharing/partners.js'

export { exportBatch } from './sharing/export.js'

export const fraud = {
  stats: fraudStats,
  quotas: fraudQuotas,
  rotateKey: rotateFraudKey,
  addPartner,
  removePartner,
  importBatch,
}

export const fraudOfSubscriber = { erase: eraseReports }
