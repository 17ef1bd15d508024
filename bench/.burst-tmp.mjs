import net from 'node:net';
import { stdioEndpoint } from './child.mjs';
import { FLOOR } from './targets.mjs';
let writes=0,reads=0,writev=0;
const w=net.Socket.prototype._writeGeneric; net.Socket.prototype._writeGeneric=function(v,...a){writes++;if(v)writev++;return w.call(this,v,...a)};
const e=net.Socket.prototype.emit; net.Socket.prototype.emit=function(n,...a){if(n==='data')reads++;return e.call(this,n,...a)};
const which=process.argv[2];
const conn = which==='raw' ? await (await import('./targets/raw.mjs')).connect(stdioEndpoint(FLOOR)) : await (await (await import('./targets/mastra.mjs')).load({module:process.argv[3]??'file:///work/main/dist/index.mjs',home:'file:///work/main/dist/index.mjs'})).connect(stdioEndpoint(FLOOR));
for (let k=0;k<4;k++){ writes=reads=writev=0;let n=0;const c=process.cpuUsage(),t=performance.now();
await Promise.all(Array.from({length:16},async()=>{do{await conn.call('echo',{text:'hello'});n++}while(performance.now()-t<1500)}));
const d=process.cpuUsage(c);console.log(which,{n,writesPerCall:(writes/n).toFixed(2),writev,callsPerRead:(n/reads).toFixed(2),cpu:((d.user+d.system)/n).toFixed(1),user:(d.user/n).toFixed(1),sys:(d.system/n).toFixed(1),time:((performance.now()-t)*1000/n).toFixed(1)})}
await conn.close();process.exit(0)
