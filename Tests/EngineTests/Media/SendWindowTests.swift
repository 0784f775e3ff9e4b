import Testing
import Wire

@testable import Engine

struct SendWindowTests {
    @Test func kernelIsQueriedOnlyWhenTheWindowMayBeFull() {
        var sendWindow = SendWindow()
        var queries = 0
        for number in 0..<1_000 {
            if sendWindow.verdict == .measure {
                queries += 1
                sendWindow.observe(unacknowledged: 0, roundTrip: .zero, at: .at(number * 20))
            }
            sendWindow.recordWrite(116)
        }
        #expect(queries < 70, "queried \(queries) times for 1,000 frames")
    }

    /// The first pong came late, so the round trip is estimated as 3 s instead of 40 ms. Two talk in frames of 2.5 ms.
    @Test func stallMeasuredAsARoundTripDoesNotKeepTheWindowSmall() {
        var path = WindowedPath(roundTrip: 40, believed: 3_000)
        for time in stride(from: 0, to: 2_000, by: 10) {
            for _ in 0..<4 { path.waiting += [time, time] }
            path.send(at: time)
        }
        #expect(path.longestWait < 200, "frames wait \(path.longestWait) ms and expire")
    }

    @Test func blockedPathStopsMedia() {
        var sendWindow = SendWindow()
        var onTheWay = 0
        for number in 0..<200 {
            if sendWindow.verdict == .measure {
                sendWindow.observe(unacknowledged: onTheWay, roundTrip: .milliseconds(10), at: .at(number * 20))
            }
            guard sendWindow.hasRoom else { continue }
            sendWindow.recordWrite(116)
            onTheWay += 116
        }
        #expect(onTheWay <= SendWindow.bytesMin + 116)
    }

    @Test func longPathHasALargerWindow() {
        var near = SendWindow()
        var far = SendWindow()
        for number in 0..<200 {
            near.recordWrite(400)
            far.recordWrite(400)
            near.observe(unacknowledged: 0, roundTrip: .milliseconds(2), at: .at(number * 20))
            far.observe(unacknowledged: 0, roundTrip: .milliseconds(200), at: .at(number * 20))
        }
        near.recordWrite(8_000)
        far.recordWrite(8_000)
        #expect(!near.hasRoom)
        #expect(far.hasRoom)
    }

    /// Three talk at once on a path of 250 ms, and the shard retries every 10 ms while frames are queued.
    @Test func distantSubscriberReceivesAllTalkers() {
        var path = WindowedPath(roundTrip: 250, believed: 250)
        for time in stride(from: 0, to: 5_000, by: 10) {
            if time % 20 == 0 { path.waiting += [time, time, time] }
            if time == 2_000 { path.longestWait = 0 }
            path.send(at: time)
        }
        #expect(path.longestWait < 200, "frames wait \(path.longestWait) ms and expire")
    }
}

/// Frames of 140 bytes on their way to a subscriber whose kernel acknowledges them a round trip later. Times are milliseconds.
private struct WindowedPath {
    let roundTrip: Int
    /// The round trip as the shard measured it.
    let believed: Int
    /// When each frame was queued.
    var waiting: [Int] = []
    var longestWait = 0
    private var sendWindow = SendWindow()
    private var acknowledgements: [(at: Int, bytes: Int)] = []

    init(roundTrip: Int, believed: Int) {
        (self.roundTrip, self.believed) = (roundTrip, believed)
    }

    /// Sends what the window allows, as a shard does on each tick.
    mutating func send(at time: Int) {
        acknowledgements.removeAll { $0.at <= time }
        while let since = waiting.first {
            if sendWindow.verdict == .measure {
                let unacknowledged = acknowledgements.reduce(0) { $0 + $1.bytes }
                sendWindow.observe(unacknowledged: unacknowledged, roundTrip: .milliseconds(believed), at: .at(time))
            }
            guard sendWindow.hasRoom else { return }
            waiting.removeFirst()
            sendWindow.recordWrite(140)
            acknowledgements.append((time + roundTrip, 140))
            longestWait = max(longestWait, time - since)
        }
    }
}
