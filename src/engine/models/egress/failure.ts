import { FORBIDDEN_ADDRESS_CODE, getNetworkErrorCode } from './connect.js'

/** A failed fetch. The message is one of a few fixed texts and never contains data of the response. */
export class EgressFailure extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'EgressFailure'
  }
}

const FAILURE_TEXTS: Record<string, string> = {
  [FORBIDDEN_ADDRESS_CODE]: 'its address is neither public nor listed in egressAllow',
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'name not found',
  EAI_AGAIN: 'name not found',
  EHOSTUNREACH: 'no route',
  ENETUNREACH: 'no route',
  ETIMEDOUT: 'connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'the rest of the answer did not arrive in time',
  UND_ERR_HEADERS_OVERFLOW: 'too many header fields',
  HPE_HEADER_OVERFLOW: 'too many header fields',
}

/** Converts a network error into a failure with a fixed text. */
export function toEgressFailure(error: unknown): EgressFailure {
  if (error instanceof EgressFailure) return error
  const code = getNetworkErrorCode(error)
  const known = FAILURE_TEXTS[code]
  if (known !== undefined) return new EgressFailure(known)
  if (code.startsWith('HPE_')) return new EgressFailure('a response that is not HTTP')
  if (/CERT|SSL|TLS/.test(code)) return new EgressFailure('no trusted TLS connection')
  const undecodable = code.startsWith('Z_') || code.startsWith('ERR_')
  return new EgressFailure(undecodable ? 'a body that cannot be decoded' : 'the connection was interrupted')
}
