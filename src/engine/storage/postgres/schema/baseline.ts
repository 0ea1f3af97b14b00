import { CHAT_TABLES } from './chat.js'
import { CONTENT_TABLES } from './content.js'
import { COUNTING_TRIGGERS } from './counting-triggers.js'
import { DEPLOYMENT_TABLE } from './deployment.js'
import { FOLLOWING_TRIGGERS } from './following-triggers.js'
import { FUNCTIONS } from './functions.js'
import { ISOLATION } from './isolation.js'
import { KEPT_TABLES } from './kept.js'
import { KNOWLEDGE_TABLES } from './knowledge.js'
import { WORK_TABLES } from './work.js'

/**
 * The schema that a store on PostgreSQL begins with: that of SQLite after its first forty migrations. A test holds one
 * against the other. See docs/decisions/0051-one-sql-for-two-databases.md.
 */
export const BASELINE = [
  FUNCTIONS,
  CONTENT_TABLES,
  KNOWLEDGE_TABLES,
  CHAT_TABLES,
  WORK_TABLES,
  KEPT_TABLES,
  DEPLOYMENT_TABLE,
  COUNTING_TRIGGERS,
  FOLLOWING_TRIGGERS,
  ISOLATION,
  'INSERT INTO node_keys VALUES (0);',
].join('\n')

/** The number of the migration that the baseline stands for. */
export const BASELINE_SCHEMA = 40
