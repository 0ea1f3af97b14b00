import { describe, expect, it } from 'vitest'
import { findProxy } from '../../src/client/proxy.js'

const through = (url: string, env: Record<string, string>) => findProxy(url, env)?.href

describe('the proxy for an address', () => {
  it('follows the scheme of the address; the lower-case variable takes precedence', () => {
    const env = { HTTPS_PROXY: 'http://a:1', HTTP_PROXY: 'http://b:2' }
    expect(through('https://knowledge.test', env)).toBe('http://a:1/')
    expect(through('http://knowledge.test', env)).toBe('http://b:2/')
    expect(through('https://knowledge.test', { ...env, https_proxy: 'https://c:3' })).toBe('https://c:3/')
    expect(through('https://knowledge.test', { HTTP_PROXY: 'http://b:2' })).toBeUndefined()
  })

  it('uses plain HTTP if its address has no scheme', () => {
    expect(through('https://knowledge.test', { HTTPS_PROXY: 'proxy:3128' })).toBe('http://proxy:3128/')
  })

  it('never applies to this machine, under any of its names', () => {
    const env = { HTTP_PROXY: 'http://b:2', HTTPS_PROXY: 'http://b:2' }
    for (const host of ['localhost', '127.0.0.1', '127.9.9.9', '127.1', '[::1]', 'LOCALHOST:7733']) {
      expect([host, through(`http://${host}`, env), through(`https://${host}`, env)]).toEqual([
        host,
        undefined,
        undefined,
      ])
    }
  })

  it.each([
    ['*', true],
    ['knowledge.test', true],
    ['.test', true],
    ['*.test', true],
    ['other.org, KNOWLEDGE.test', true],
    ['other.org knowledge.test:8080', true],
    ['knowledge.test:81', false],
    ['ledge.test', false],
    ['dge.tes', false],
    ['a.knowledge.test', false],
    ['', false],
  ])('respects NO_PROXY=%j, where the host is exempt: %s', (list, exempt) => {
    const env = { HTTP_PROXY: 'http://b:2', NO_PROXY: list }
    expect(through('http://knowledge.test:8080', env) === undefined).toBe(exempt)
  })

  it('does not apply to addresses in a network that NO_PROXY names', () => {
    const env = { HTTP_PROXY: 'http://b:2', NO_PROXY: '10.0.0.0/8,fd00::/8,192.0.2.7,[2001:db8::1]:80' }
    for (const host of ['10.9.8.7', '[fd00::9]', '192.0.2.7', '[2001:db8::1]']) {
      expect([host, through(`http://${host}`, env)]).toEqual([host, undefined])
    }
    for (const host of ['11.0.0.1', '[fe00::9]', '192.0.2.8', '[2001:db8::2]', '10.test']) {
      expect([host, through(`http://${host}`, env)]).toEqual([host, 'http://b:2/'])
    }
  })

  it('must be a valid http address; an invalid address is refused without repeating its password', () => {
    for (const value of ['socks5://me:secret@proxy:1', 'http://me:secret@:x', '://secret']) {
      expect(() => findProxy('https://knowledge.test', { HTTPS_PROXY: value })).toThrow(
        /^HTTPS_PROXY is not the address of an HTTP proxy, such as http:\/\/proxy:3128$/,
      )
    }
  })
})
