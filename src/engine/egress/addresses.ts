import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Whether an address may be dialled; takes it in any text form, an IPv6 one also in brackets. */
export type AddressRule = (address: string) => boolean

/** Of IPv6 only this part of the address space is the public internet (RFC 4291). */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3')

/** No setting opens these: they reach the machine next door, everybody at once, or nobody. */
const NEVER = new Set(['linkLocal', 'multicast', 'broadcast', 'unspecified'])

/** Where clouds keep the credentials of a machine, outside the link-local range. */
const METADATA_SERVICES = new Set(['100.100.100.200', '168.63.129.16', 'fd00:ec2::254', '192.0.0.192'])

/**
 * The rule for requests that a user can aim: the public internet, and what the operator listed.
 *
 * @param allow addresses and CIDR ranges, IPv4 or IPv6
 * @throws Error that names an entry which is neither
 */
export function createAddressRule(allow: readonly string[]): AddressRule {
  const listed = allow.map(parseRange)
  return (text) => {
    const address = parseAddress(text)
    if (address === undefined || isNever(address)) return false
    return isPublic(address) || listed.some((range) => within(address, range))
  }
}

/** An address of IPv4 in IPv6 clothes (RFC 4291, 2.5.5.2) is that IPv4 address. */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const bare = text.replace(/^\[|\]$/g, '')
  // a zone id would name an interface of this machine
  return isIP(bare) === 0 || bare.includes('%') ? undefined : ipaddr.process(bare)
}

/** The rule for places that only the operator names, such as model servers: his own network too, but never these. */
export const operatorMayDial: AddressRule = (text) => {
  const address = parseAddress(text)
  return address !== undefined && !isNever(address)
}

/** Ranges that not even an address which the operator wrote down himself may be of. */
function isNever(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return NEVER.has(address.range()) || METADATA_SERVICES.has(address.toString())
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Reads `10.0.0.0/8`, `127.0.0.1` or `fd00::/8`. @throws Error */
export function parseRange(text: string): Range {
  const single = parseAddress(text)
  if (single !== undefined) return [single, single.kind() === 'ipv4' ? 32 : 128]
  const [address, bits, ...rest] = text.split('/')
  const base = parseAddress(address ?? '')
  const length = /^\d{1,3}$/.test(bits ?? '') ? Number(bits) : Number.NaN
  const most = base?.kind() === 'ipv4' ? 32 : 128
  if (base === undefined || rest.length > 0 || !(length <= most)) {
    throw new Error(`an address or a range such as 10.0.0.0/8, received ${JSON.stringify(text)}`)
  }
  return [base, length]
}

function within(address: ipaddr.IPv4 | ipaddr.IPv6, [base, length]: Range): boolean {
  return address.kind() === base.kind() && address.match(base, length)
}

/** Addresses that carry another one inside (6to4, Teredo, NAT64) are of ranges with names of their own: refused whole. */
function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || address.match(GLOBAL_IPV6)
}
