import type { z } from 'zod'
import { type JsonSchema, toJsonSchema } from '../../contract/json-schema.js'
import { describeProperties } from '../../contract/property-descriptions.js'
import { findOperation } from '../api/operations.js'
import { usageError } from '../cli-error.js'
import { COMMAND_OUTPUTS } from './commands.js'
import { CommandError } from './error.js'
import { findReply } from './operations.js'

/**
 * The JSON Schema of each value that a command prints on stdout with `--json`. Its `$defs` include `CommandError`.
 *
 * @param id with colons
 * @throws CliError exit 2 if the command prints no JSON
 */
export function describeJsonOutput(id: string): JsonSchema {
  const output = COMMAND_OUTPUTS[id]
  if (output === undefined) throw new Error(`${id} has no output in COMMAND_OUTPUTS`)
  if (typeof output !== 'string') return withErrors(output)
  throw usageError(`\`ks ${id.replaceAll(':', ' ')}\` has no JSON output: ${output}`)
}

/** The JSON Schema of the reply of an operation. @throws CliError exit 2 if there is no such operation or reply */
export function describeReply(operationId: string): JsonSchema {
  const route = findOperation(operationId)
  const reply = findReply(route)
  if (reply !== undefined) return withErrors(reply)
  throw usageError(`\`${route.id}\` does not reply with JSON`, `\`ks api ${route.id} --describe\` describes it`)
}

function withErrors(schema: z.ZodType): JsonSchema {
  const { $defs: schemas = {}, ...output } = toJsonSchema(schema, 'output')
  describeProperties({ paths: {}, components: { schemas } })
  return { ...output, $defs: { ...schemas, ...toJsonSchema(CommandError, 'output').$defs } }
}
