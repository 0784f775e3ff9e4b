import Testing
import Wire

/// Several TLS records in one read are processed like separately received ones.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct BatchTests {
    let gateway: TestGateway
    private let speaker: Caller
    private let listener: Caller
    private let frames: [[UInt8]]

    init() throws {
        gateway = try TestGateway()
        speaker = try Caller(gateway, room: "r", identity: "speaker")
        listener = try Caller(gateway, room: "r", identity: "listener")
        let track = try speaker.publish()
        frames = (0..<12).map { TestFrame.bytes(track.alias, $0) }
    }

    private func expectAllFrames() throws {
        for frame in frames { #expect(try listener.frame() == frame) }
    }

    @Test func framesArriveInOrderAndAtOnce() throws {
        try speaker.socket.socket.together { for frame in frames { try speaker.say(frame) } }
        // Not with the next message, which would be seconds later.
        try listener.take(until: "all frames", within: .seconds(2)) { $0.frames.count == frames.count }
        try expectAllFrames()
    }

    @Test func interleavedRequestsAndPingsAreAnswered() throws {
        let socket = speaker.socket
        try socket.socket.together {
            for frame in frames[..<4] { try speaker.say(frame) }
            try socket.send(text: #"{"type":"ping","id":7,"data":{"t":9}}"#)
            for frame in frames[4..<8] { try speaker.say(frame) }
            try socket.send(.ping([1, 2, 3]))
            for frame in frames[8...] { try speaker.say(frame) }
        }
        #expect(try speaker.answer(to: 7).get().t == 9)
        #expect(try socket.next() == .pong([1, 2, 3]))
        try expectAllFrames()
    }

    @Test func framesOfOneRecordArriveSeparately() throws {
        try speaker.socket.socket.write(frames.flatMap { RawFrame.binary($0).bytes })
        try expectAllFrames()
    }

    @Test(arguments: [1, 5, 6, 40]) func frameMaySpanTwoRecords(cut: Int) throws {
        let socket = speaker.socket.socket
        try socket.together {
            for frame in frames[..<4] { try speaker.say(frame) }
            let whole = RawFrame.binary(frames[4]).bytes
            try socket.write(Array(whole[..<cut]))
            try socket.write(Array(whole[cut...]))
            for frame in frames[5...] { try speaker.say(frame) }
        }
        try expectAllFrames()
        // Afterwards, each in its own read.
        try speaker.settle()
        try speaker.say(frames[0])
        #expect(try listener.frame() == frames[0])
    }

    @Test func fragmentedMessageIsReassembled() throws {
        let socket = speaker.socket
        try socket.socket.together {
            try speaker.say(frames[0])
            try socket.send(RawFrame(isFinal: false, opcode: 2, payload: Array(frames[1][..<20])))
            try socket.send(RawFrame(opcode: 0, payload: Array(frames[1][20...])))
            for frame in frames[2...] { try speaker.say(frame) }
        }
        try expectAllFrames()
    }

    @Test func framesBeforeAFaultAreRelayed() throws {
        try speaker.socket.socket.together {
            for frame in frames { try speaker.say(frame) }
            try speaker.socket.send(RawFrame(opcode: 2, payload: frames[0], isMasked: false))
        }
        #expect(try speaker.closeCode() == 1002)
        try expectAllFrames()
    }

    @Test func framesBeforeACloseAreRelayed() throws {
        try speaker.socket.socket.together {
            for frame in frames { try speaker.say(frame) }
            try speaker.socket.send(.close(1000))
        }
        #expect(try speaker.closeCode() == 1000)
        try expectAllFrames()
    }

    @Test func subscriberOfManyTracksGetsAllFrames() throws {
        let others = try (0..<3).map { try Caller(gateway, room: "r", identity: "listener \($0)") }
        try speaker.socket.socket.together { for frame in frames { try speaker.say(frame) } }
        for other in others { for frame in frames { #expect(try other.frame() == frame) } }
        try expectAllFrames()
    }
}
