/** Progress of a task: bytes done, bytes in all, rows so far. */
export type Progress = (done: number, total: number, rows: number) => void
