// A count with Laplace noise, for data sets that are lists of records. Reads requests, one a line, until the input ends.
// The generator (splitmix32) repeats itself from a seed, as an audit wants it; it is not secure, and Laplace noise made
// from doubles leaks by its bits: never release data with it.
const readline = require('readline')

function uniform (seed) {
  let state = (seed ^ Math.floor(seed / 2 ** 32)) | 0
  const bits = () => {
    state = (state + 0x9e3779b9) | 0
    let z = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97)
    return (z ^ (z >>> 15)) >>> 0
  }
  return () => (bits() + 0.5) / 2 ** 32
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { dataset, size, seed, parameters } = JSON.parse(line)
  const random = uniform(seed)
  const outputs = []
  for (let i = 0; i < size; i++) {
    const u = random() - 0.5
    outputs.push(dataset.length - parameters.scale * Math.sign(u) * Math.log(1 - 2 * Math.abs(u)))
  }
  process.stdout.write(outputs.join('\n') + '\n')
})
