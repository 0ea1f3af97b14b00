import { z } from 'zod'

/** The line that a failed command prints on stderr. */
export const CommandError = z
  .strictObject({
    error: z.strictObject({
      code: z.string().describe('stable code, such as not-found'),
      message: z.string().describe('one sentence: what happened, to what'),
      exitCode: z.int().min(1).max(255),
      hint: z.string().exactOptional().describe('what to do next'),
      status: z.int().min(400).max(599).exactOptional().describe('HTTP status of the service'),
      traceId: z.string().exactOptional().describe('id by which the log of the service has the request'),
    }),
  })
  .meta({ id: 'CommandError', description: 'one line on stderr if the command fails' })
export type CommandError = z.output<typeof CommandError>
