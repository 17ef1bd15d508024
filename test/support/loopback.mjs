// Preload (`node --import`): a server that listens on every interface binds 127.0.0.1 instead and says on which port.
import net from 'node:net';

const { listen, _listen2: bind } = net.Server.prototype;

net.Server.prototype.listen = function (...args) {
  this.once('listening', () => process.stderr.write(`bound to 127.0.0.1:${this.address().port}\n`));
  return listen.apply(this, args);
};

// In the step that binds, not by a host: a host is looked up first, and some ask for the address right after `listen`.
net.Server.prototype._listen2 = function (address, port, ...rest) {
  if (address || typeof port !== 'number' || port < 0) return bind.call(this, address, port, ...rest);
  return bind.call(this, '127.0.0.1', port, 4, ...rest.slice(1));
};
