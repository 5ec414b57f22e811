/** The distributors that the server knows. */
import type { Output } from './api.js'
import { useCall } from './use-call.js'

export type Distributor = Output<'distributors.list'>['distributors'][number]

/** Empty until they are known. */
export function useDistributors(): readonly Distributor[] {
  return useCall('distributors.list', {}).data?.distributors ?? []
}

/** As lists offer them. */
export const distributorOptions = (distributors: readonly Distributor[]) =>
  distributors.map(({ distid, name }) => [distid, name] as const)
