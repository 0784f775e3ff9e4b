import Foundation
import Testing
import Wire

@Suite("A text message is refused", .besideACall, .onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct BadTextTests {
    let gateway: TestGateway

    init() throws { gateway = try TestGateway.besideACall }

    @Test("for its form", arguments: BadText.ofForm)
    func form(_ bad: BadText) throws { try refuse(bad) }

    @Test("for its request", arguments: BadText.ofRequest)
    func request(_ bad: BadText) throws { try refuse(bad) }

    @Test("but not at exactly 64 KiB")
    func justSmallEnough() throws {
        let eve = try join()
        try eve.socket.send(text: BadText.padded(to: 65_536))
        #expect(try eve.answer(to: 7).get().t == 0)
    }

    @Test("but not for unknown fields")
    func unknownFields() throws {
        let eve = try join()
        try eve.socket.send(text: #"{"type":"ping","id":7,"data":{"t":5,"x":[{}]},"y":null}"#)
        #expect(try eve.answer(to: 7).get().t == 5)
    }

    @Test("but not for the highest ID")
    func highestNumber() throws {
        let eve = try join()
        try eve.socket.send(text: #"{"type":"ping","id":18446744073709551615}"#)
        #expect(try eve.answer(to: .max).get().t == 0)
    }

    @Test("only once if it has several errors")
    func answeredOnce() throws {
        let eve = try join()
        try eve.socket.send(text: #"{"type":"track.publish","id":7,"data":{"name":5,"source":6}}"#)
        guard case .failure = try eve.answer(to: 7) else { throw DidNotHappen(what: "an error") }
        try eve.settle()
        #expect(!eve.hasAnswer(to: 7))
    }

    private func join() throws -> Caller {
        let room = "table \(UInt64.random(in: 0 ... .max))"
        return try Caller(gateway, room: room, identity: "eve")
    }

    private func refuse(_ bad: BadText) throws {
        let eve = try join()
        let lea = try Caller(gateway, room: eve.hello.room.name, identity: "lea")
        let code: String? =
            switch bad.answer {
            case .error(let code, _), .silence(let code): code
            case .close: nil
            }
        let counter = if case .close(let code) = bad.answer { Counter.closed(code) } else { Counter.requestRefused(code!) }
        let before = try gateway.value(counter)
        try? eve.socket.send(RawFrame(opcode: 1, payload: bad.bytes))
        switch bad.answer {
        case .error(let code, let id):
            guard case .failure(let error) = try eve.answer(to: id) else { throw DidNotHappen(what: "an error") }
            #expect(error.code.description == code)
            #expect(!error.message.isEmpty && error.message.utf8.count < 400)
        case .silence: break
        case .close(let code): #expect(try eve.closeCode() == code)
        }
        if eve.ending == nil { try eve.settle() }
        try lea.settle()
        #expect(try gateway.value(counter) == before + 1)
    }
}
