/** Every command, in the order of the overview. */
import type { Command } from '../command.js'
import { accountCommands } from './accounts.js'
import { analyticsCommands } from './analytics.js'
import { auditCommands } from './audit.js'
import { eventCommands } from './events.js'
import { consoleCommands } from './console.js'
import { completionCommand } from './completion.js'
import { catalogCommands } from './catalog.js'
import { backupCommands } from './backup.js'
import { configurationCommands } from './configuration/index.js'
import { demoCommand } from './demo.js'
import { doctorCommand } from './doctor.js'
import { documentCommands } from './documents.js'
import { distributorCommands } from './distributors.js'
import { feedCommands } from './feeds/index.js'
import { fflDocumentCommands } from './ffls/documents.js'
import { fflCommands } from './ffls/index.js'
import { fraudCommands } from './fraud.js'
import { initCommand } from './init.js'
import { orderCommands } from './orders/index.js'
import { moveCommand } from './move.js'
import { nodesCommand } from './nodes.js'
import { secretCommands } from './secrets.js'
import { ruleCommands } from './rules/index.js'
import { serveCommand } from './serve.js'
import { simulatorsCommand } from './simulators.js'

export const commands: Command[] = [
  serveCommand,
  demoCommand,
  simulatorsCommand,
  initCommand,
  ...accountCommands,
  ...distributorCommands,
  ...documentCommands,
  ...feedCommands,
  ...fflCommands,
  ...fflDocumentCommands,
  ...ruleCommands,
  ...configurationCommands,
  ...catalogCommands,
  ...orderCommands,
  ...analyticsCommands,
  ...fraudCommands,
  doctorCommand,
  nodesCommand,
  ...backupCommands,
  moveCommand,
  ...auditCommands,
  ...eventCommands,
  ...consoleCommands,
  ...secretCommands,
  completionCommand(() => commands),
]
