/** The program: runs the line of this process, and leaves its exit code. */
import { launch } from './launch.js'

void launch().then((status) => {
  process.exitCode = status
})
