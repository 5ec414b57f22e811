export const installationOperations = [] as const
