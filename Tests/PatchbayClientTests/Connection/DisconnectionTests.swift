import Testing
import Wire

@testable import PatchbayClient

struct DisconnectionTests {
    @Test(arguments: [nil, 1005, 1006, 4001, 4002, 4003, 4004, 4050, 4099, 1001, 1011, 1012, 1013, 1014] as [UInt16?])
    func comingBackMakesSense(code: UInt16?) {
        #expect(Disconnection(closeCode: code).isRetryable)
    }

    @Test(arguments: [1000, 1002, 1007, 1009, 4100, 4102, 4103, 4104, 4105, 4106, 4150, 4199, 3000] as [UInt16])
    func comingBackMakesNoSense(code: UInt16) {
        #expect(!Disconnection(closeCode: code).isRetryable)
    }

    @Test func localEndsAreFinal() {
        #expect(!Disconnection.left.isRetryable)
        #expect(Disconnection.pingTimeout.isRetryable)
        #expect(Disconnection(closeCode: 4103) == .closed(.removed))
    }
}
