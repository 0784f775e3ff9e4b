import Foundation
import Identity
import Testing
import Wire

@Suite(.onOwnThread, .timeLimit(.minutes(1)))
struct ProbeTests {
    @Test func probe() throws {
        let gateway = try TestGateway()
        let token = TestToken.joining("r", as: "browser")
        let long = TestToken.joining("r", as: "browser") { $0.metadata = String(repeating: "m", count: 4000) }
        for offer in ["patchbay.v1", "patchbay.v1, patchbay.bearer.\(token)", "patchbay.v1,patchbay.bearer.\(token)", "patchbay.v1, patchbay.bearer.\(long)", "patchbay.bearer.\(token),patchbay.v1", "patchbay.bearer.\(token), patchbay.v1", "other, patchbay.v1, patchbay.bearer.\(token)", "patchbay.v1, other, patchbay.bearer.\(token)", "patchbay.bearer.x, patchbay.v1"] {
            do {
                let a = try HTTPAsk.upgrade(subprotocol: offer).answer(port: gateway.port)
                print("PROBE", offer.prefix(60), a?.status as Any, a?.fields as Any)
            } catch { print("PROBE", offer.prefix(60), error) }
        }
    }
}
