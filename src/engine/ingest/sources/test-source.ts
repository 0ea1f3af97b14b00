import { KsError } from '../../../contract/errors.js'
import type { SourceTestResult } from '../../../contract/gateway/sources.js'
import { linkAbort } from '../../../lib/abort.js'
import { EgressFailure, type SafeFetch } from '../../models/index.js'
import { parseJsonCell } from '../../store/readable.js'
import type { SourceRow } from '../../store/rows/sources.js'
import { openSourceLocation } from './connectors/open.js'
import { isSyncable, noConnectorError } from './connectors/registry.js'
import { createAuthHeaders } from './content.js'
import type { SourceParts } from './sources.js'

/** a test sends little */
const TEST_TIMEOUT_MS = 10_000

/**
 * Tests whether a source can be read with its stored credentials.
 *
 * @throws KsError `not-configured` when there is no reader for it
 */
export async function testSource(
  parts: SourceParts,
  source: SourceRow,
  fetch: SafeFetch,
  closing: AbortSignal,
): Promise<SourceTestResult> {
  if (source.type === 'upload')
    throw new KsError('not-configured', `there is no tester for sources of type ${source.type}`)
  const deadline = linkAbort(closing)
  const timer = setTimeout(
    () => deadline.abort(new EgressFailure(`no response within ${TEST_TIMEOUT_MS} ms`)),
    TEST_TIMEOUT_MS,
  )
  try {
    if (source.type === 'web') {
      if (!isSyncable(source.type, parseJsonCell(source.metadata))) throw noConnectorError(source.type, source.id)
      const credentials = getAuthHeaders(parts, source)
      const { status } = await fetch.get(source.uri, { credentials, signal: deadline.signal })
      return status < 400 ? { valid: true } : { valid: false, error: `the site answered ${status}` }
    }
    const { connection } = openSourceLocation(parts, source, fetch, deadline.signal)
    try {
      await connection.test()
    } finally {
      await connection.close()
    }
    return { valid: true }
  } catch (error) {
    if (error instanceof EgressFailure) return { valid: false, error: error.message }
    throw error
  } finally {
    clearTimeout(timer)
    deadline.dispose()
  }
}

/** The headers that authenticate at a web source. @throws EgressFailure for credentials that a site cannot use */
export function getAuthHeaders({ box }: SourceParts, source: SourceRow): Record<string, string> {
  const credentials = source.credentials === null ? undefined : box.open(source.id, source.credentials)
  try {
    return createAuthHeaders(credentials)
  } catch (error) {
    throw error instanceof KsError ? new EgressFailure(error.message) : error
  }
}
