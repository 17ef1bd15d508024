// Preload (`node --import`): a server that listens on every interface binds 127.0.0.1 instead and says on which port.
import net from 'node:net';

const { listen } = net.Server.prototype;

net.Server.prototype.listen = function (port, ...rest) {
  this.once('listening', () => process.stderr.write(`bound to 127.0.0.1:${this.address().port}\n`));
  if (!/^\d+$/.test(String(port)) || typeof rest[0] === 'string') return listen.call(this, port, ...rest);
  return listen.call(this, { port: Number(port), host: '127.0.0.1' }, ...rest);
};
