import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Whether an address may be dialled; accepts any text form, IPv6 also in brackets. */
export type AddressRule = (address: string) => boolean

/** The only part of the IPv6 address space that is the public internet (RFC 4291). */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3')

/** No setting allows these: they reach the local link, all hosts at once, or none. */
const FORBIDDEN_RANGES = new Set(['linkLocal', 'multicast', 'broadcast', 'unspecified'])

/** Addresses outside of the link-local range where clouds serve the credentials of a machine. */
const METADATA_SERVICES = new Set(['100.100.100.200', '168.63.129.16', 'fd00:ec2::254', '192.0.0.192'])

/**
 * The rule for requests whose address a user chooses: the public internet, and what the operator listed.
 *
 * @param allow addresses and CIDR ranges, IPv4 or IPv6
 * @throws Error that names an invalid entry
 */
export function createAddressRule(allow: readonly string[]): AddressRule {
  const listed = allow.map(parseRange)
  return (text) => {
    const address = parseAddress(text)
    if (address === undefined || isForbidden(address)) return false
    return isPublic(address) || listed.some((range) => isInRange(address, range))
  }
}

/** Parses an address; an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2) becomes that IPv4 address. */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const unbracketed = text.replace(/^\[|\]$/g, '')
  // a zone id would name an interface of this machine
  return isIP(unbracketed) === 0 || unbracketed.includes('%') ? undefined : ipaddr.process(unbracketed)
}

/**
 * The rule for addresses that only the operator configures, such as model servers: private networks too, except for the
 * forbidden ranges.
 */
export const isAllowedForOperator: AddressRule = (text) => {
  const address = parseAddress(text)
  return address !== undefined && !isForbidden(address)
}

/** Ranges that are forbidden even where the operator configured the address. */
function isForbidden(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return FORBIDDEN_RANGES.has(address.range()) || METADATA_SERVICES.has(address.toString())
}

type AddressRange = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Parses `10.0.0.0/8`, `127.0.0.1` or `fd00::/8`. @throws Error */
export function parseRange(text: string): AddressRange {
  const single = parseAddress(text)
  if (single !== undefined) return [single, single.kind() === 'ipv4' ? 32 : 128]
  const [address, bits, ...rest] = text.split('/')
  const base = parseAddress(address ?? '')
  const length = /^\d{1,3}$/.test(bits ?? '') ? Number(bits) : Number.NaN
  const maxLength = base?.kind() === 'ipv4' ? 32 : 128
  if (base === undefined || rest.length > 0 || !(length <= maxLength)) {
    throw new Error(`an address or a range such as 10.0.0.0/8 is expected, received ${JSON.stringify(text)}`)
  }
  return [base, length]
}

function isInRange(address: ipaddr.IPv4 | ipaddr.IPv6, [base, length]: AddressRange): boolean {
  return address.kind() === base.kind() && address.match(base, length)
}

/** Addresses that embed another one (6to4, Teredo, NAT64) are in named ranges, which are rejected entirely. */
function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || address.match(GLOBAL_IPV6)
}
