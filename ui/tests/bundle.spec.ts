import { expect, test } from '@playwright/test'
import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

const files = () => readdirSync('dist/assets').map((name) => ({ name, bytes: readFileSync(`dist/assets/${name}`) }))

test('the app’s bundle is small', () => {
  const sizes = files().map(({ name, bytes }) => `${name}: ${gzipSync(bytes).length}`)
  const total = files().reduce((sum, { bytes }) => sum + gzipSync(bytes).length, 0)
  console.log(`gzipped: ${total} bytes; ${sizes.join(', ')}`)
  expect(total).toBeLessThanOrEqual(150_000)
})

test('the app’s bundle holds nothing of the in-memory host, and no address of anything remote', () => {
  const all = files().map(({ bytes }) => bytes.toString()).join('\n')
  for (const word of ['refresh-token race', 'importer', '支付对账', 'registry is locked']) expect(all).not.toContain(word)
  const addresses = [...all.matchAll(/https?:\/\/[\w.-]+/g)].map(([address]) => address)
  expect(addresses.filter((one) => !/w3\.org|svelte\.dev|memory\.example\.workers\.dev/.test(one))).toEqual([])
})

test('nothing in it needs a style or script that the policy refuses', () => {
  expect(readFileSync('dist/index.html', 'utf8')).not.toMatch(/<style|style=|onload=|<script(?![^>]*src=)/)
  for (const { name, bytes } of files().filter((file) => file.name.endsWith('.js'))) expect(bytes.toString(), name).not.toMatch(/<[a-z][^<>`]* style="/)
})
