// Artillery's cheapest way to hear what a server pushes: a listener of our own, since a step without `capture` or
// `match` takes the built-in one away.
'use strict';

function listen(context, events, done) {
  context.ws.on('message', (data) => {
    const frame = JSON.parse(data);
    if (frame.kind === 'StreamingDeltaEvent') events.emit('counter', 'deltas', 1);
  });
  return done();
}

module.exports = { listen };
