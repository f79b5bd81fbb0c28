// Run npm's emulate as a GitHub on loopback: `node serve.mjs FOLDER SEED`, where FOLDER/node_modules holds it and SEED is JSON.
// It prints its port; for each line that it reads, it forgets all that was done and prints `clean`; when its input ends, it ends.
import http from 'node:http'
import path from 'node:path'
import readline from 'node:readline'
import { pathToFileURL } from 'node:url'

const [folder, seed] = process.argv.slice(2)
const listen = http.Server.prototype.listen
// It would listen on every interface, and does not tell on which port.
http.Server.prototype.listen = function (port) {
  return listen.call(this, port, '127.0.0.1', () => console.log(this.address().port))
}
const { createEmulator } = await import(pathToFileURL(path.join(folder, 'node_modules/emulate/dist/api.js')))
const emulator = await createEmulator({
  service: 'github',
  port: 0,
  baseUrl: 'https://github.com',
  seed: JSON.parse(seed),
})
for await (const _ of readline.createInterface({ input: process.stdin })) {
  emulator.reset()
  console.log('clean')
}
process.exit()
