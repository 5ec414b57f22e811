/** All bugs that the fuzzer must find. */
import { ENDPOINTS, SECRETS } from './endpoints.js'
import type { FuzzPlant } from './plant.js'
import { REQUESTS } from './requests.js'

export const PLANTS: readonly FuzzPlant[] = [...ENDPOINTS, ...SECRETS, ...REQUESTS]
