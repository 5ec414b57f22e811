/** What the operator does with the analytics of all distributors. */
import { rebuildForOperator } from './builds/rebuild-job.js'
import { showMetric } from './endpoints.js'
import { showItem } from './history/show-item.js'

export const analytics = { rebuild: rebuildForOperator, show: showMetric, showItem }
