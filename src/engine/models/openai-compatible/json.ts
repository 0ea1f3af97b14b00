import { isRecord } from '../../../lib/json/values.js'
import { ProviderFailure } from '../../base/provider-failure.js'
import { type EgressResponse, readResponseText } from '../egress-fetch.js'

/** An object field; an empty object where it is absent or has another type. */
export function getRecord(value: unknown, key: string): Record<string, unknown> {
  const inner = isRecord(value) ? value[key] : undefined
  return isRecord(inner) ? inner : {}
}

/** A list field; an empty list where it is absent or has another type. */
export function getList(value: unknown, key: string): unknown[] {
  const inner = isRecord(value) ? value[key] : undefined
  return Array.isArray(inner) ? inner : []
}

/** A token count field; undefined where it is absent or invalid. */
export function getCount(value: unknown, key: string): number | undefined {
  const inner = isRecord(value) ? value[key] : undefined
  return typeof inner === 'number' && Number.isSafeInteger(inner) && inner >= 0 ? inner : undefined
}

export function createMalformedFailure(detail: string): ProviderFailure {
  return new ProviderFailure('malformed', detail)
}

/** @throws ProviderFailure `malformed`, without the parser's message, which quotes the text */
export function parseProviderJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ProviderFailure('malformed', 'not JSON')
  }
}

/** Reads a JSON response of at most `maxBytes`. */
export async function readProviderJson(
  response: EgressResponse,
  maxBytes: number,
  signal: AbortSignal,
): Promise<unknown> {
  return parseProviderJson(await readResponseText(response, maxBytes, signal))
}
