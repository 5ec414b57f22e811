/** What the operator does with the analytics of all distributors. */
import { rebuildForOperator } from './builds/rebuild-job.js'
import { showMetric } from './endpoints.js'

export const analytics = { rebuild: rebuildForOperator, show: showMetric }
