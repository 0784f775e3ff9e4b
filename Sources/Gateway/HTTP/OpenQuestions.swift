internal import Engine
internal import Sockets

/// What a shard asks another one on behalf of an HTTP request.
enum Question: Sendable {
    /// All rooms that are homed there.
    case rooms
    /// The same with those who are in them.
    case openRooms
    /// Bring your counters up to date.
    case counters
    case room(String)
    case command(Room.AdminCommand, room: String)
}

enum Answer: Sendable {
    case rooms([RoomSummary])
    case openRooms([Gateway.OpenRoom])
    case response(Response)
}

/// HTTP requests that wait for other shards, each until all that were asked have answered.
struct OpenQuestions {
    struct Open {
        let exchange: HTTPExchange
        let finish: ([Answer]) -> Response
        var missing: Int
        var answers: [Answer] = []
    }

    private var open: [Int: Open] = [:]
    private var last = 0

    /// - Returns: the number under which answers come.
    mutating func add(_ exchange: HTTPExchange, of shards: Int, finish: @escaping ([Answer]) -> Response) -> Int {
        last += 1
        open[last] = Open(exchange: exchange, finish: finish, missing: shards)
        return last
    }

    /// Takes one answer, and responds when it was the last.
    mutating func take(_ answer: Answer, toQuestion number: Int) {
        guard var question = open[number] else { return }
        question.answers.append(answer)
        question.missing -= 1
        open[number] = question.missing == 0 ? nil : question
        if question.missing == 0 { question.exchange.respond(question.finish(question.answers)) }
    }
}
