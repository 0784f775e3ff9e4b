import Sockets
import Testing

struct ListenerTests {
    @Test func portZeroBindsAFreePort() throws {
        let listener = try Listener(host: "127.0.0.1", port: 0, shared: false)
        defer { listener.close() }
        #expect(listener.port > 0)
    }

    @Test func aTakenPortIsReportedWithWhatToDo() throws {
        let first = try Listener(host: "127.0.0.1", port: 0, shared: false)
        defer { first.close() }
        let error = try #require(throws: ListenError.self) { try Listener(host: "127.0.0.1", port: first.port, shared: false) }
        #expect(error.isTaken)
        #expect(
            "\(error)" == "port \(first.port) on 127.0.0.1 is taken; stop the program that has it or choose another with --port")
    }

    @Test func aSharedPortMayBeBoundAgain() throws {
        let first = try Listener(host: "127.0.0.1", port: 0, shared: true)
        defer { first.close() }
        let second = try Listener(host: "127.0.0.1", port: first.port, shared: true)
        defer { second.close() }
        #expect(second.port == first.port)
    }

    @Test func aSharedPortIsTakenForOthers() throws {
        let first = try Listener(host: "127.0.0.1", port: 0, shared: true)
        defer { first.close() }
        let error = #expect(throws: ListenError.self) { try Listener(host: "127.0.0.1", port: first.port, shared: false) }
        #expect(error?.isTaken == true)
    }

    @Test(arguments: ["localhost", "127.0.0.1.1", "", "::g", "example.org"])
    func onlyNumericAddressesAreAccepted(_ host: String) {
        let error = #expect(throws: ListenError.self) { try Listener(host: host, port: 0, shared: false).close() }
        #expect(error?.isTaken == false)
        #expect(error.map { "\($0)" }?.contains("not a numeric IP address") == true)
    }

    @Test func anAddressOfAnotherMachineIsRefused() {
        let error = #expect(throws: ListenError.self) { try Listener(host: "192.0.2.1", port: 0, shared: false) }
        #expect(error.map { "\($0)" }?.hasPrefix("cannot listen on 192.0.2.1 port 0: ") == true)
    }

    @Test func ipv6Works() throws {
        let listener = try Listener(host: "::1", port: 0, shared: false)
        defer { listener.close() }
        #expect(listener.port > 0)
    }
}
