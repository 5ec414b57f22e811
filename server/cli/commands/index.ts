/** Every command, in the order of the overview. */
import type { Command } from '../command.js'
import { accountCommands } from './accounts.js'
import { analyticsCommands } from './analytics.js'
import { auditCommands } from './audit.js'
import { catalogCommands } from './catalog.js'
import { backupCommands } from './backup.js'
import { configurationCommands } from './configuration.js'
import { demoCommand } from './demo.js'
import { distributorCommands } from './distributors.js'
import { feedCommands } from './feeds.js'
import { fflDocumentCommands } from './ffl-documents.js'
import { fflCommands } from './ffls.js'
import { fraudCommands } from './fraud.js'
import { initCommand } from './init.js'
import { orderCommands } from './orders.js'
import { secretCommands } from './secrets.js'
import { ruleCommands } from './rules.js'
import { serveCommand } from './serve.js'

export const commands: Command[] = [
  serveCommand,
  demoCommand,
  initCommand,
  ...accountCommands,
  ...distributorCommands,
  ...feedCommands,
  ...fflCommands,
  ...fflDocumentCommands,
  ...ruleCommands,
  ...configurationCommands,
  ...catalogCommands,
  ...orderCommands,
  ...analyticsCommands,
  ...fraudCommands,
  ...backupCommands,
  ...auditCommands,
  ...secretCommands,
]
