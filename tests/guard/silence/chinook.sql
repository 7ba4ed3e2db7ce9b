-- How much revenue did each country bring?
SELECT BillingCountry, SUM(Total) AS revenue FROM Invoice GROUP BY BillingCountry ORDER BY revenue DESC;

-- What is the total revenue?
SELECT SUM(Total) FROM Invoice;

-- Revenue by genre
SELECT g.Name, SUM(il.UnitPrice * il.Quantity) AS revenue
FROM InvoiceLine il
JOIN Track t ON t.TrackId = il.TrackId
JOIN Genre g ON g.GenreId = t.GenreId
GROUP BY g.GenreId, g.Name
ORDER BY revenue DESC;

-- Revenue by artist, top ten
SELECT ar.Name, SUM(il.UnitPrice * il.Quantity) AS revenue
FROM InvoiceLine il
JOIN Track t ON t.TrackId = il.TrackId
JOIN Album al ON al.AlbumId = t.AlbumId
JOIN Artist ar ON ar.ArtistId = al.ArtistId
GROUP BY ar.ArtistId, ar.Name
ORDER BY revenue DESC
LIMIT 10;

-- How many tracks are there in each genre?
SELECT g.Name, COUNT(t.TrackId) AS tracks FROM Genre g LEFT JOIN Track t ON t.GenreId = g.GenreId GROUP BY g.GenreId, g.Name;

-- How many different customers bought each genre?
SELECT g.Name, COUNT(DISTINCT i.CustomerId) AS customers
FROM Genre g
JOIN Track t ON t.GenreId = g.GenreId
JOIN InvoiceLine il ON il.TrackId = t.TrackId
JOIN Invoice i ON i.InvoiceId = il.InvoiceId
GROUP BY g.GenreId, g.Name;

-- Which customers have never bought a Jazz track?
SELECT c.FirstName, c.LastName FROM Customer c
WHERE NOT EXISTS (
  SELECT 1 FROM Invoice i
  JOIN InvoiceLine il ON il.InvoiceId = i.InvoiceId
  JOIN Track t ON t.TrackId = il.TrackId
  JOIN Genre g ON g.GenreId = t.GenreId
  WHERE i.CustomerId = c.CustomerId AND g.Name = 'Jazz');

-- Which artists have no album?
SELECT ar.Name FROM Artist ar LEFT JOIN Album al ON al.ArtistId = ar.ArtistId WHERE al.AlbumId IS NULL;

-- Number of albums of each artist, also those without
SELECT ar.Name, COUNT(al.AlbumId) AS albums FROM Artist ar LEFT JOIN Album al ON al.ArtistId = ar.ArtistId GROUP BY ar.ArtistId, ar.Name;

-- List every invoice line with track and price
SELECT i.InvoiceId, t.Name, il.UnitPrice, il.Quantity
FROM Invoice i JOIN InvoiceLine il ON il.InvoiceId = i.InvoiceId JOIN Track t ON t.TrackId = il.TrackId;

-- Each customer's support representative
SELECT c.FirstName, c.LastName, e.FirstName AS rep_first, e.LastName AS rep_last FROM Customer c LEFT JOIN Employee e ON e.EmployeeId = c.SupportRepId;

-- Sales by support representative
SELECT e.LastName, SUM(i.Total) AS sales
FROM Employee e
JOIN Customer c ON c.SupportRepId = e.EmployeeId
JOIN Invoice i ON i.CustomerId = c.CustomerId
GROUP BY e.EmployeeId, e.LastName;

-- Average invoice total per country
SELECT BillingCountry, AVG(Total) FROM Invoice GROUP BY BillingCountry;

-- Who manages whom?
SELECT e.FirstName || ' ' || e.LastName AS employee, m.FirstName || ' ' || m.LastName AS manager
FROM Employee e LEFT JOIN Employee m ON m.EmployeeId = e.ReportsTo;

-- How many reports has each manager?
SELECT m.LastName, COUNT(*) AS reports FROM Employee e JOIN Employee m ON m.EmployeeId = e.ReportsTo GROUP BY m.EmployeeId, m.LastName;

-- How many customers has each country?
SELECT Country, COUNT(*) FROM Customer GROUP BY Country ORDER BY COUNT(*) DESC;

-- What are the different countries of our customers?
SELECT DISTINCT Country FROM Customer;

-- Longest track of each album
SELECT al.Title, MAX(t.Milliseconds) AS longest FROM Album al JOIN Track t ON t.AlbumId = al.AlbumId GROUP BY al.AlbumId, al.Title;

-- Tracks longer than the average of their genre
SELECT t.Name, t.Milliseconds FROM Track t
WHERE t.Milliseconds > (SELECT AVG(t2.Milliseconds) FROM Track t2 WHERE t2.GenreId = t.GenreId);

-- The best selling track of each genre
WITH sold AS (
  SELECT t.GenreId, t.TrackId, t.Name, SUM(il.Quantity) AS n
  FROM Track t JOIN InvoiceLine il ON il.TrackId = t.TrackId
  GROUP BY t.GenreId, t.TrackId, t.Name
), ranked AS (
  SELECT sold.*, ROW_NUMBER() OVER (PARTITION BY GenreId ORDER BY n DESC, TrackId) AS r FROM sold
)
SELECT g.Name AS genre, ranked.Name AS track, ranked.n FROM ranked JOIN Genre g ON g.GenreId = ranked.GenreId WHERE ranked.r = 1;

-- Running total of revenue by invoice
SELECT InvoiceId, InvoiceDate, Total, SUM(Total) OVER (ORDER BY InvoiceDate, InvoiceId) AS running FROM Invoice;

-- Revenue per year
SELECT SUBSTR(CAST(InvoiceDate AS VARCHAR), 1, 4) AS year, SUM(Total) AS revenue FROM Invoice GROUP BY SUBSTR(CAST(InvoiceDate AS VARCHAR), 1, 4) ORDER BY year;

-- Invoices per customer and year
SELECT c.CustomerId, c.LastName, SUBSTR(CAST(i.InvoiceDate AS VARCHAR), 1, 4) AS year, COUNT(*) AS invoices, SUM(i.Total) AS spent
FROM Customer c JOIN Invoice i ON i.CustomerId = c.CustomerId
GROUP BY c.CustomerId, c.LastName, SUBSTR(CAST(i.InvoiceDate AS VARCHAR), 1, 4);

-- Share of each genre in revenue
WITH r AS (
  SELECT t.GenreId, SUM(il.UnitPrice * il.Quantity) AS revenue
  FROM InvoiceLine il JOIN Track t ON t.TrackId = il.TrackId GROUP BY t.GenreId
)
SELECT g.Name, r.revenue, 100.0 * r.revenue / SUM(r.revenue) OVER () AS share FROM r JOIN Genre g ON g.GenreId = r.GenreId;

-- Spend per customer against their number of lines
SELECT c.LastName, x.spent, y.lines
FROM Customer c
JOIN (SELECT CustomerId, SUM(Total) AS spent FROM Invoice GROUP BY CustomerId) x ON x.CustomerId = c.CustomerId
JOIN (SELECT i.CustomerId, COUNT(*) AS lines FROM Invoice i JOIN InvoiceLine il ON il.InvoiceId = i.InvoiceId GROUP BY i.CustomerId) y ON y.CustomerId = c.CustomerId;

-- Customers who bought both Rock and Classical
SELECT c.CustomerId, c.LastName FROM Customer c
WHERE c.CustomerId IN (SELECT i.CustomerId FROM Invoice i JOIN InvoiceLine il ON il.InvoiceId = i.InvoiceId JOIN Track t ON t.TrackId = il.TrackId JOIN Genre g ON g.GenreId = t.GenreId WHERE g.Name = 'Rock')
  AND c.CustomerId IN (SELECT i.CustomerId FROM Invoice i JOIN InvoiceLine il ON il.InvoiceId = i.InvoiceId JOIN Track t ON t.TrackId = il.TrackId JOIN Genre g ON g.GenreId = t.GenreId WHERE g.Name = 'Classical');

-- Cities with customers or employees
SELECT City FROM Customer UNION SELECT City FROM Employee;

-- Cities with both customers and employees
SELECT City FROM Customer INTERSECT SELECT City FROM Employee;

-- Customer cities without employees
SELECT City FROM Customer EXCEPT SELECT City FROM Employee;

-- Names of all customers and employees
SELECT FirstName, LastName, 'customer' AS kind FROM Customer UNION ALL SELECT FirstName, LastName, 'employee' FROM Employee;

-- How many tracks has each playlist, and how long is it?
SELECT p.PlaylistId, p.Name, COUNT(*) AS tracks, SUM(t.Milliseconds) AS length
FROM Playlist p JOIN PlaylistTrack pt ON pt.PlaylistId = p.PlaylistId JOIN Track t ON t.TrackId = pt.TrackId
GROUP BY p.PlaylistId, p.Name;

-- Total length of each playlist's tracks
SELECT p.Name, SUM(t.Milliseconds) / 60000.0 AS minutes
FROM PlaylistTrack pt JOIN Track t ON t.TrackId = pt.TrackId JOIN Playlist p ON p.PlaylistId = pt.PlaylistId
GROUP BY p.PlaylistId, p.Name;

-- Tracks on more than two playlists
SELECT t.Name, COUNT(*) AS n FROM Track t JOIN PlaylistTrack pt ON pt.TrackId = t.TrackId GROUP BY t.TrackId, t.Name HAVING COUNT(*) > 2;

-- In how many playlists is each genre?
SELECT g.Name, COUNT(DISTINCT pt.PlaylistId) FROM Genre g JOIN Track t ON t.GenreId = g.GenreId JOIN PlaylistTrack pt ON pt.TrackId = t.TrackId GROUP BY g.GenreId, g.Name;

-- Pairs of customers in the same city
SELECT a.LastName, b.LastName, a.City FROM Customer a JOIN Customer b ON a.City = b.City AND a.CustomerId < b.CustomerId;

-- Every pair of genre and media type with its number of tracks
SELECT g.Name AS genre, m.Name AS media, COUNT(t.TrackId) AS tracks
FROM Genre g CROSS JOIN MediaType m LEFT JOIN Track t ON t.GenreId = g.GenreId AND t.MediaTypeId = m.MediaTypeId
GROUP BY g.GenreId, g.Name, m.MediaTypeId, m.Name;

-- Price list: all tracks with their price
SELECT Name, UnitPrice FROM Track ORDER BY Name;

-- Prices of tracks
SELECT DISTINCT UnitPrice FROM Track;

-- What did each invoice of customer 5 cost?
SELECT Total FROM Invoice WHERE CustomerId = 5;

-- Invoices where the sum of lines differs from the total
SELECT i.InvoiceId, i.Total, SUM(il.UnitPrice * il.Quantity) AS lines
FROM Invoice i JOIN InvoiceLine il ON il.InvoiceId = i.InvoiceId
GROUP BY i.InvoiceId, i.Total
HAVING ABS(i.Total - SUM(il.UnitPrice * il.Quantity)) > 0.01;

-- Quantity sold of each track, also unsold ones
SELECT t.TrackId, t.Name, COALESCE(SUM(il.Quantity), 0) AS sold FROM Track t LEFT JOIN InvoiceLine il ON il.TrackId = t.TrackId GROUP BY t.TrackId, t.Name;

-- Which tracks were never sold?
SELECT t.Name FROM Track t LEFT JOIN InvoiceLine il ON il.TrackId = t.TrackId WHERE il.InvoiceLineId IS NULL;

-- Composers with most tracks
SELECT Composer, COUNT(*) AS n FROM Track WHERE Composer IS NOT NULL GROUP BY Composer ORDER BY n DESC LIMIT 5;

-- Number of tracks without a composer
SELECT COUNT(*) FROM Track WHERE Composer IS NULL;

-- Share of tracks with a composer
SELECT 1.0 * COUNT(Composer) / COUNT(*) FROM Track;

-- Average number of lines per invoice
SELECT AVG(n) FROM (SELECT InvoiceId, COUNT(*) AS n FROM InvoiceLine GROUP BY InvoiceId) x;

-- Average number of invoices per customer
SELECT 1.0 * COUNT(*) / COUNT(DISTINCT CustomerId) FROM Invoice;

-- Average track price weighted by sales per genre
SELECT g.Name, SUM(il.UnitPrice * il.Quantity) / SUM(il.Quantity) AS price
FROM InvoiceLine il JOIN Track t ON t.TrackId = il.TrackId JOIN Genre g ON g.GenreId = t.GenreId GROUP BY g.GenreId, g.Name;

-- Invoices with more than ten lines
SELECT i.InvoiceId, i.InvoiceDate, COUNT(*) AS lines FROM Invoice i JOIN InvoiceLine il ON il.InvoiceId = i.InvoiceId GROUP BY i.InvoiceId, i.InvoiceDate HAVING COUNT(*) > 10;

-- The most recent invoice of each customer
SELECT c.LastName, i.InvoiceDate, i.Total
FROM Customer c JOIN Invoice i ON i.CustomerId = c.CustomerId
WHERE i.InvoiceDate = (SELECT MAX(i2.InvoiceDate) FROM Invoice i2 WHERE i2.CustomerId = c.CustomerId);

-- Each customer's first and last purchase
SELECT c.CustomerId, c.LastName, MIN(i.InvoiceDate), MAX(i.InvoiceDate) FROM Customer c LEFT JOIN Invoice i ON i.CustomerId = c.CustomerId GROUP BY c.CustomerId, c.LastName;

-- Customers who spent more than 45
SELECT c.FirstName, c.LastName, SUM(i.Total) AS spent FROM Customer c JOIN Invoice i ON i.CustomerId = c.CustomerId GROUP BY c.CustomerId, c.FirstName, c.LastName HAVING SUM(i.Total) > 45;

-- Number of invoices and of different billing cities per customer
SELECT CustomerId, COUNT(*) AS invoices, COUNT(DISTINCT BillingCity) AS cities FROM Invoice GROUP BY CustomerId;

-- Albums with tracks of more than one genre
SELECT al.Title, COUNT(DISTINCT t.GenreId) AS genres FROM Album al JOIN Track t ON t.AlbumId = al.AlbumId GROUP BY al.AlbumId, al.Title HAVING COUNT(DISTINCT t.GenreId) > 1;

-- Sales of each album: lines and revenue
SELECT al.Title, COUNT(*) AS lines, SUM(il.UnitPrice * il.Quantity) AS revenue
FROM Album al JOIN Track t ON t.AlbumId = al.AlbumId JOIN InvoiceLine il ON il.TrackId = t.TrackId
GROUP BY al.AlbumId, al.Title;

-- Minutes of music bought by each customer
SELECT c.LastName, SUM(t.Milliseconds * il.Quantity) / 60000.0 AS minutes
FROM Customer c JOIN Invoice i ON i.CustomerId = c.CustomerId JOIN InvoiceLine il ON il.InvoiceId = i.InvoiceId JOIN Track t ON t.TrackId = il.TrackId
GROUP BY c.CustomerId, c.LastName;

-- Top five customers
SELECT c.FirstName, c.LastName, SUM(i.Total) AS spent FROM Customer c JOIN Invoice i ON i.CustomerId = c.CustomerId GROUP BY c.CustomerId, c.FirstName, c.LastName ORDER BY spent DESC LIMIT 5;

-- Pivot of revenue by country and year
SELECT BillingCountry,
  SUM(CASE WHEN SUBSTR(CAST(InvoiceDate AS VARCHAR), 1, 4) = '2022' THEN Total ELSE 0 END) AS y2009,
  SUM(CASE WHEN SUBSTR(CAST(InvoiceDate AS VARCHAR), 1, 4) = '2010' THEN Total ELSE 0 END) AS y2010
FROM Invoice GROUP BY BillingCountry;

-- Rank of countries by revenue
SELECT BillingCountry, SUM(Total) AS revenue, RANK() OVER (ORDER BY SUM(Total) DESC) AS rank FROM Invoice GROUP BY BillingCountry;

-- Change of monthly revenue
WITH m AS (SELECT SUBSTR(CAST(InvoiceDate AS VARCHAR), 1, 7) AS month, SUM(Total) AS revenue FROM Invoice GROUP BY SUBSTR(CAST(InvoiceDate AS VARCHAR), 1, 7))
SELECT month, revenue, revenue - LAG(revenue) OVER (ORDER BY month) AS change FROM m;

-- All employees below Andrew Adams
WITH RECURSIVE tree(EmployeeId, depth) AS (
  SELECT EmployeeId, 0 FROM Employee WHERE LastName = 'Adams'
  UNION ALL
  SELECT e.EmployeeId, tree.depth + 1 FROM Employee e JOIN tree ON e.ReportsTo = tree.EmployeeId
)
SELECT e.FirstName, e.LastName, tree.depth FROM tree JOIN Employee e ON e.EmployeeId = tree.EmployeeId;

-- Genres with more tracks than the average genre
SELECT g.Name FROM Genre g JOIN Track t ON t.GenreId = g.GenreId GROUP BY g.GenreId, g.Name
HAVING COUNT(*) > (SELECT AVG(n) FROM (SELECT COUNT(*) AS n FROM Track GROUP BY GenreId) x);

-- Country of the customer with the highest invoice
SELECT c.Country FROM Customer c JOIN Invoice i ON i.CustomerId = c.CustomerId ORDER BY i.Total DESC LIMIT 1;

-- Which track is the longest?
SELECT Name FROM Track ORDER BY Milliseconds DESC LIMIT 1;

-- Revenue from tracks of each media type
SELECT m.Name, SUM(il.UnitPrice * il.Quantity) FROM MediaType m JOIN Track t ON t.MediaTypeId = m.MediaTypeId JOIN InvoiceLine il ON il.TrackId = t.TrackId GROUP BY m.MediaTypeId, m.Name;

-- Customers and number of genres they bought
SELECT c.LastName, COUNT(DISTINCT t.GenreId) AS genres
FROM Customer c JOIN Invoice i ON i.CustomerId = c.CustomerId JOIN InvoiceLine il ON il.InvoiceId = i.InvoiceId JOIN Track t ON t.TrackId = il.TrackId
GROUP BY c.CustomerId, c.LastName;

-- Invoice totals with the customer's name
SELECT i.InvoiceId, i.Total, c.FirstName, c.LastName FROM Invoice i JOIN Customer c ON c.CustomerId = i.CustomerId;

-- Number of invoices by the city of the customer
SELECT c.City, COUNT(i.InvoiceId) AS invoices FROM Customer c LEFT JOIN Invoice i ON i.CustomerId = c.CustomerId GROUP BY c.City;

-- Average spend per customer in each country
WITH s AS (SELECT CustomerId, SUM(Total) AS spent FROM Invoice GROUP BY CustomerId)
SELECT c.Country, AVG(s.spent) FROM Customer c JOIN s ON s.CustomerId = c.CustomerId GROUP BY c.Country;

-- Median invoice total
SELECT AVG(Total) FROM (SELECT Total, ROW_NUMBER() OVER (ORDER BY Total) AS r, COUNT(*) OVER () AS n FROM Invoice) x WHERE r IN ((n + 1) / 2, (n + 2) / 2);

-- Number of tracks and number of albums in all
SELECT (SELECT COUNT(*) FROM Track) AS tracks, (SELECT COUNT(*) FROM Album) AS albums;

-- Each artist's number of albums and of tracks
SELECT ar.Name, COUNT(DISTINCT al.AlbumId) AS albums, COUNT(t.TrackId) AS tracks
FROM Artist ar JOIN Album al ON al.ArtistId = ar.ArtistId LEFT JOIN Track t ON t.AlbumId = al.AlbumId GROUP BY ar.ArtistId, ar.Name;

-- Customers with the name of their rep and what they spent
SELECT c.CustomerId, c.LastName, e.LastName AS rep, SUM(i.Total) AS spent
FROM Customer c LEFT JOIN Employee e ON e.EmployeeId = c.SupportRepId LEFT JOIN Invoice i ON i.CustomerId = c.CustomerId
GROUP BY c.CustomerId, c.LastName, e.LastName;

-- Names of artists who have a track over ten minutes
SELECT DISTINCT ar.Name FROM Artist ar JOIN Album al ON al.ArtistId = ar.ArtistId JOIN Track t ON t.AlbumId = al.AlbumId WHERE t.Milliseconds > 600000;

-- Names of customers who bought a track by Iron Maiden
SELECT c.FirstName, c.LastName FROM Customer c WHERE EXISTS (SELECT 1 FROM Invoice i JOIN InvoiceLine il ON il.InvoiceId = i.InvoiceId JOIN Track t ON t.TrackId = il.TrackId JOIN Album al ON al.AlbumId = t.AlbumId JOIN Artist ar ON ar.ArtistId = al.ArtistId WHERE i.CustomerId = c.CustomerId AND ar.Name = 'Iron Maiden');

-- Every purchase of an Iron Maiden track: who, when, which
SELECT c.LastName, i.InvoiceDate, t.Name
FROM Customer c JOIN Invoice i ON i.CustomerId = c.CustomerId JOIN InvoiceLine il ON il.InvoiceId = i.InvoiceId JOIN Track t ON t.TrackId = il.TrackId JOIN Album al ON al.AlbumId = t.AlbumId JOIN Artist ar ON ar.ArtistId = al.ArtistId
WHERE ar.Name = 'Iron Maiden' ORDER BY i.InvoiceDate;

-- Distribution of invoice totals
SELECT CAST(Total AS INTEGER) AS bucket, COUNT(*) FROM Invoice GROUP BY CAST(Total AS INTEGER) ORDER BY bucket;

-- Ages of customers' first purchase by rep
SELECT e.LastName, MIN(i.InvoiceDate) FROM Employee e JOIN Customer c ON c.SupportRepId = e.EmployeeId JOIN Invoice i ON i.CustomerId = c.CustomerId GROUP BY e.EmployeeId, e.LastName;

-- Customers without a company
SELECT FirstName, LastName FROM Customer WHERE Company IS NULL;

-- States of customers
SELECT State FROM Customer;

-- Highest priced tracks
SELECT Name, UnitPrice FROM Track WHERE UnitPrice = (SELECT MAX(UnitPrice) FROM Track);

-- Number of customers per support rep, including reps without customers
SELECT e.LastName, COUNT(c.CustomerId) FROM Employee e LEFT JOIN Customer c ON c.SupportRepId = e.EmployeeId WHERE e.Title = 'Sales Support Agent' GROUP BY e.EmployeeId, e.LastName;

-- Days since last invoice by country
SELECT BillingCountry, MAX(InvoiceDate) AS last FROM Invoice GROUP BY BillingCountry ORDER BY last;

-- Revenue of playlists' Rock tracks
SELECT SUM(il.UnitPrice * il.Quantity) FROM InvoiceLine il WHERE il.TrackId IN (SELECT pt.TrackId FROM PlaylistTrack pt JOIN Playlist p ON p.PlaylistId = pt.PlaylistId WHERE p.Name = 'Music');

-- Track names that occur more than once
SELECT Name, COUNT(*) FROM Track GROUP BY Name HAVING COUNT(*) > 1;

-- First letters of artists
SELECT SUBSTR(Name, 1, 1) AS letter, COUNT(*) FROM Artist GROUP BY SUBSTR(Name, 1, 1);

-- Top three customers of each country
SELECT Country, LastName, spent FROM (
  SELECT c.Country, c.LastName, SUM(i.Total) AS spent, DENSE_RANK() OVER (PARTITION BY c.Country ORDER BY SUM(i.Total) DESC) AS r
  FROM Customer c JOIN Invoice i ON i.CustomerId = c.CustomerId GROUP BY c.CustomerId, c.Country, c.LastName) x WHERE r <= 3;

-- Pairs of tracks bought together most often
SELECT a.TrackId AS first, b.TrackId AS second, COUNT(*) AS together
FROM InvoiceLine a JOIN InvoiceLine b ON b.InvoiceId = a.InvoiceId AND a.TrackId < b.TrackId
GROUP BY a.TrackId, b.TrackId ORDER BY together DESC, first, second LIMIT 10;

-- Pairs of genres bought in the same invoice
SELECT g1.Name, g2.Name, COUNT(DISTINCT a.InvoiceId) AS invoices
FROM InvoiceLine a JOIN Track t1 ON t1.TrackId = a.TrackId JOIN Genre g1 ON g1.GenreId = t1.GenreId
JOIN InvoiceLine b ON b.InvoiceId = a.InvoiceId JOIN Track t2 ON t2.TrackId = b.TrackId JOIN Genre g2 ON g2.GenreId = t2.GenreId
WHERE g1.GenreId < g2.GenreId GROUP BY g1.GenreId, g1.Name, g2.GenreId, g2.Name;

-- Revenue of customers by country, with customers that have no invoice
SELECT c.Country, COALESCE(SUM(i.Total), 0) FROM Customer c LEFT JOIN Invoice i ON i.CustomerId = c.CustomerId GROUP BY c.Country;

-- How many customers are there in Brazil?
SELECT COUNT(*) FROM Customer WHERE Country = 'Brazil';

-- How many invoices have customers from Brazil?
SELECT COUNT(*) FROM Invoice i JOIN Customer c ON c.CustomerId = i.CustomerId WHERE c.Country = 'Brazil';

-- How many invoice lines sold Rock?
SELECT COUNT(*) FROM InvoiceLine il JOIN Track t ON t.TrackId = il.TrackId JOIN Genre g ON g.GenreId = t.GenreId WHERE g.Name = 'Rock';

-- What was sold in the invoices of 2009, by genre?
SELECT g.Name, SUM(il.Quantity)
FROM Invoice i, InvoiceLine il, Track t, Genre g
WHERE i.InvoiceId = il.InvoiceId AND il.TrackId = t.TrackId AND t.GenreId = g.GenreId AND SUBSTR(CAST(i.InvoiceDate AS VARCHAR), 1, 4) = '2022'
GROUP BY g.GenreId, g.Name;

-- Average price of the tracks on each playlist
SELECT p.Name, AVG(t.UnitPrice) FROM Playlist p JOIN PlaylistTrack pt ON pt.PlaylistId = p.PlaylistId JOIN Track t ON t.TrackId = pt.TrackId GROUP BY p.PlaylistId, p.Name;

-- Last names shared by customers and employees
SELECT c.LastName FROM Customer c JOIN Employee e ON e.LastName = c.LastName;

-- Each employee's age when hired
SELECT FirstName, LastName, CAST(SUBSTR(CAST(HireDate AS VARCHAR), 1, 4) AS INTEGER) - CAST(SUBSTR(CAST(BirthDate AS VARCHAR), 1, 4) AS INTEGER) AS age FROM Employee;

-- Countries with customers but without revenue in 2009
SELECT DISTINCT c.Country FROM Customer c WHERE c.CustomerId NOT IN (SELECT CustomerId FROM Invoice WHERE SUBSTR(CAST(InvoiceDate AS VARCHAR), 1, 4) = '2022');

-- Total bytes downloaded by each customer
SELECT c.CustomerId, SUM(t.Bytes) AS bytes FROM Customer c JOIN Invoice i ON i.CustomerId = c.CustomerId JOIN InvoiceLine il ON il.InvoiceId = i.InvoiceId JOIN Track t ON t.TrackId = il.TrackId GROUP BY c.CustomerId;

-- The country of each customer
SELECT Country FROM Customer;

-- The unit price of all tracks
SELECT UnitPrice FROM Track;

-- Names of tracks in the order they were sold
SELECT t.Name FROM Track t JOIN InvoiceLine il ON il.TrackId = t.TrackId ORDER BY il.InvoiceLineId;

-- Dates of all invoices
SELECT InvoiceDate FROM Invoice;

-- Cities of customers and employees, all of them
SELECT City FROM Customer UNION ALL SELECT City FROM Employee;

-- Number of people by city
SELECT City, COUNT(*) FROM (SELECT City FROM Customer UNION ALL SELECT City FROM Employee) x GROUP BY City;

-- Customers near an employee
SELECT c.LastName, e.LastName FROM Customer c JOIN Employee e ON e.City = c.City;

-- Number of tracks by band of length
WITH bands(name, lo, hi) AS (SELECT 'short', 0, 180000 UNION ALL SELECT 'medium', 180000, 360000 UNION ALL SELECT 'long', 360000, 100000000)
SELECT b.name, COUNT(t.TrackId) FROM bands b LEFT JOIN Track t ON t.Milliseconds >= b.lo AND t.Milliseconds < b.hi GROUP BY b.name;

-- Each track's price against the average
SELECT t.Name, t.UnitPrice - a.price FROM Track t, (SELECT AVG(UnitPrice) AS price FROM Track) a;

-- Number of invoices over 5 for each customer
SELECT c.LastName, COUNT(i.InvoiceId) FROM Customer c LEFT JOIN Invoice i ON i.CustomerId = c.CustomerId AND i.Total > 5 GROUP BY c.CustomerId, c.LastName;

-- Names of albums and their tracks as a list
SELECT al.Title, COUNT(*) AS n, GROUP_CONCAT(t.Name) AS tracks FROM Album al JOIN Track t ON t.AlbumId = al.AlbumId GROUP BY al.AlbumId, al.Title;

-- Revenue by genre name
SELECT g.Name, SUM(il.UnitPrice * il.Quantity) FROM Genre g JOIN Track t ON g.GenreId = t.GenreId JOIN InvoiceLine il ON t.TrackId = il.TrackId GROUP BY g.Name;

-- Number of tracks of each artist
SELECT ar.Name, (SELECT COUNT(*) FROM Album al JOIN Track t ON t.AlbumId = al.AlbumId WHERE al.ArtistId = ar.ArtistId) AS tracks FROM Artist ar;

-- How many customers bought something in 2012?
SELECT COUNT(DISTINCT CustomerId) FROM Invoice WHERE SUBSTR(CAST(InvoiceDate AS VARCHAR), 1, 4) = '2012';

-- Which genres did customer 1 buy?
SELECT DISTINCT g.Name FROM Genre g JOIN Track t ON t.GenreId = g.GenreId JOIN InvoiceLine il ON il.TrackId = t.TrackId JOIN Invoice i ON i.InvoiceId = il.InvoiceId WHERE i.CustomerId = 1;

-- Total of invoices with at least one Jazz track
SELECT SUM(Total) FROM Invoice WHERE InvoiceId IN (SELECT il.InvoiceId FROM InvoiceLine il JOIN Track t ON t.TrackId = il.TrackId JOIN Genre g ON g.GenreId = t.GenreId WHERE g.Name = 'Jazz');

-- Top customer per country (ties allowed)
WITH s AS (SELECT c.Country, c.CustomerId, c.LastName, SUM(i.Total) AS spent FROM Customer c JOIN Invoice i ON i.CustomerId = c.CustomerId GROUP BY c.Country, c.CustomerId, c.LastName),
m AS (SELECT Country, MAX(spent) AS best FROM s GROUP BY Country)
SELECT s.Country, s.LastName, s.spent FROM s JOIN m ON m.Country = s.Country AND m.best = s.spent;

-- Average revenue per invoice and per line in one row
SELECT (SELECT AVG(Total) FROM Invoice) AS per_invoice, (SELECT AVG(UnitPrice * Quantity) FROM InvoiceLine) AS per_line;

-- How many rows has each table?
SELECT 'Track' AS t, COUNT(*) AS n FROM Track UNION ALL SELECT 'Album', COUNT(*) FROM Album UNION ALL SELECT 'Artist', COUNT(*) FROM Artist;

-- Invoice lines with the invoice total repeated for the share of a line
SELECT i.InvoiceId, il.InvoiceLineId, il.UnitPrice * il.Quantity / i.Total AS share FROM Invoice i JOIN InvoiceLine il ON il.InvoiceId = i.InvoiceId;

-- Weight of an invoice by its lines: sum over lines of the invoice total
SELECT i.InvoiceId, COUNT(*) * i.Total FROM Invoice i JOIN InvoiceLine il ON il.InvoiceId = i.InvoiceId GROUP BY i.InvoiceId, i.Total;

-- Number of customers by the number of invoices they have
SELECT n, COUNT(*) FROM (SELECT CustomerId, COUNT(*) AS n FROM Invoice GROUP BY CustomerId) x GROUP BY n;

-- Every second customer
SELECT CustomerId FROM (SELECT CustomerId, ROW_NUMBER() OVER (ORDER BY CustomerId) AS r FROM Customer) x WHERE r % 2 = 0;

-- Names of employees and number of customers they support in each country
SELECT e.LastName, c.Country, COUNT(*) FROM Employee e JOIN Customer c ON c.SupportRepId = e.EmployeeId GROUP BY e.EmployeeId, e.LastName, c.Country;

-- How often was each track sold?
SELECT t.Name, COUNT(*) FROM Track t JOIN InvoiceLine il ON il.TrackId = t.TrackId GROUP BY t.TrackId, t.Name;

-- Which employees support customers in Canada?
SELECT e.LastName FROM Employee e WHERE e.EmployeeId IN (SELECT SupportRepId FROM Customer WHERE Country = 'Canada');

-- List the customer name for each invoice of 2011
SELECT c.FirstName, c.LastName FROM Invoice i JOIN Customer c ON c.CustomerId = i.CustomerId WHERE SUBSTR(CAST(i.InvoiceDate AS VARCHAR), 1, 4) = '2011';

-- For each playlist the names of its tracks
SELECT p.Name, t.Name FROM Playlist p JOIN PlaylistTrack pt ON pt.PlaylistId = p.PlaylistId JOIN Track t ON t.TrackId = pt.TrackId;

-- Titles of albums with the number of playlists their tracks are on
SELECT al.Title, COUNT(DISTINCT pt.PlaylistId) FROM Album al JOIN Track t ON t.AlbumId = al.AlbumId LEFT JOIN PlaylistTrack pt ON pt.TrackId = t.TrackId GROUP BY al.AlbumId, al.Title;

-- How many track places do all playlists have per genre?
SELECT g.Name, COUNT(*) FROM PlaylistTrack pt JOIN Track t ON t.TrackId = pt.TrackId JOIN Genre g ON g.GenreId = t.GenreId GROUP BY g.GenreId, g.Name;

-- Size in bytes of playlist 1
SELECT SUM(t.Bytes) FROM Track t JOIN PlaylistTrack pt ON pt.TrackId = t.TrackId WHERE pt.PlaylistId = 1;

-- Which customers paid more than 20 in one invoice?
SELECT DISTINCT c.CustomerId, c.LastName FROM Customer c JOIN Invoice i ON i.CustomerId = c.CustomerId WHERE i.Total > 20;

-- Revenue by price of track
SELECT t.UnitPrice, SUM(il.Quantity * il.UnitPrice) FROM Track t JOIN InvoiceLine il ON il.TrackId = t.TrackId GROUP BY t.UnitPrice;

-- Revenue by billing city and genre
SELECT i.BillingCity, g.Name, SUM(il.UnitPrice * il.Quantity) FROM Invoice i JOIN InvoiceLine il ON il.InvoiceId = i.InvoiceId JOIN Track t ON t.TrackId = il.TrackId JOIN Genre g ON g.GenreId = t.GenreId GROUP BY i.BillingCity, g.Name;

-- Invoice count and revenue of rep, by year
SELECT e.LastName, SUBSTR(CAST(i.InvoiceDate AS VARCHAR), 1, 4) AS y, COUNT(i.InvoiceId), SUM(i.Total) FROM Invoice i INNER JOIN Customer c ON i.CustomerId = c.CustomerId INNER JOIN Employee e ON c.SupportRepId = e.EmployeeId GROUP BY e.LastName, y;

-- Number of customers of each rep who spent over 40
SELECT e.LastName, COUNT(*) FROM Employee e JOIN Customer c ON c.SupportRepId = e.EmployeeId JOIN (SELECT CustomerId FROM Invoice GROUP BY CustomerId HAVING SUM(Total) > 40) b ON b.CustomerId = c.CustomerId GROUP BY e.EmployeeId, e.LastName;

-- What tracks are on album 1?
SELECT t.Name FROM Track t JOIN Album al ON al.AlbumId = t.AlbumId WHERE al.AlbumId = 1;

-- How long is the album with the title 'Facelift'?
SELECT SUM(t.Milliseconds) FROM Album al JOIN Track t ON t.AlbumId = al.AlbumId WHERE al.Title = 'Facelift';

-- Latest ten sales: date, customer, track
SELECT i.InvoiceDate, c.LastName, t.Name FROM Invoice i JOIN Customer c ON c.CustomerId = i.CustomerId JOIN InvoiceLine il ON il.InvoiceId = i.InvoiceId JOIN Track t ON t.TrackId = il.TrackId ORDER BY i.InvoiceDate DESC, il.InvoiceLineId LIMIT 10;

-- Genres of the latest ten sales
SELECT g.Name FROM Invoice i JOIN InvoiceLine il ON il.InvoiceId = i.InvoiceId JOIN Track t ON t.TrackId = il.TrackId JOIN Genre g ON g.GenreId = t.GenreId ORDER BY i.InvoiceDate DESC, il.InvoiceLineId LIMIT 10;

-- Composers of tracks
SELECT Composer FROM Track;

-- Customers whose rep is Jane Peacock and what they spent
SELECT c.LastName, SUM(i.Total) FROM Employee e JOIN Customer c ON c.SupportRepId = e.EmployeeId JOIN Invoice i ON i.CustomerId = c.CustomerId WHERE e.LastName = 'Peacock' GROUP BY c.CustomerId, c.LastName;

-- Average number of tracks per album
SELECT AVG(n) FROM (SELECT COUNT(*) AS n FROM Track GROUP BY AlbumId) x;

-- Average number of tracks per album, another way
SELECT 1.0 * COUNT(t.TrackId) / COUNT(DISTINCT al.AlbumId) FROM Album al JOIN Track t ON t.AlbumId = al.AlbumId;

-- Is any price negative?
SELECT COUNT(*) > 0 FROM Track WHERE UnitPrice < 0;

-- Number of lines and number of different tracks sold
SELECT COUNT(*), COUNT(DISTINCT TrackId) FROM InvoiceLine;

-- Number of employees with at least one customer
SELECT COUNT(DISTINCT SupportRepId) FROM Customer;

-- How many reps have customers?
SELECT COUNT(*) FROM Employee e WHERE EXISTS (SELECT 1 FROM Customer c WHERE c.SupportRepId = e.EmployeeId);

-- Full outer view of reps and customers
SELECT e.LastName, c.LastName FROM Employee e FULL JOIN Customer c ON c.SupportRepId = e.EmployeeId;

-- Artists and albums, artists without albums too
SELECT ar.Name, al.Title FROM Artist ar LEFT JOIN Album al USING (ArtistId);

-- Number of lines in which each customer paid 1.99
SELECT c.LastName, SUM(CASE WHEN il.UnitPrice = 1.99 THEN 1 ELSE 0 END) FROM Customer c JOIN Invoice i ON i.CustomerId = c.CustomerId JOIN InvoiceLine il ON il.InvoiceId = i.InvoiceId GROUP BY c.CustomerId, c.LastName;

-- Number of Rock buyers in each country
SELECT c.Country, COUNT(*) FROM Customer c WHERE c.CustomerId IN (SELECT i.CustomerId FROM Invoice i JOIN InvoiceLine il ON il.InvoiceId = i.InvoiceId JOIN Track t ON t.TrackId = il.TrackId WHERE t.GenreId = 1) GROUP BY c.Country;

-- Revenue by artist and album with roll-up to artist
SELECT ar.Name, al.Title, SUM(il.UnitPrice) AS r, SUM(SUM(il.UnitPrice)) OVER (PARTITION BY ar.ArtistId) AS artist FROM InvoiceLine il JOIN Track t ON t.TrackId = il.TrackId JOIN Album al ON al.AlbumId = t.AlbumId JOIN Artist ar ON ar.ArtistId = al.ArtistId GROUP BY ar.ArtistId, ar.Name, al.AlbumId, al.Title;

-- Cumulative customers by first purchase month
WITH f AS (SELECT CustomerId, MIN(SUBSTR(CAST(InvoiceDate AS VARCHAR), 1, 7)) AS m FROM Invoice GROUP BY CustomerId), n AS (SELECT m, COUNT(*) AS c FROM f GROUP BY m) SELECT m, SUM(c) OVER (ORDER BY m) FROM n;

-- Retention: customers of a cohort active in a later month
WITH f AS (SELECT CustomerId, MIN(SUBSTR(CAST(InvoiceDate AS VARCHAR), 1, 4)) AS cohort FROM Invoice GROUP BY CustomerId)
SELECT f.cohort, SUBSTR(CAST(i.InvoiceDate AS VARCHAR), 1, 4) AS year, COUNT(DISTINCT i.CustomerId) FROM f JOIN Invoice i ON i.CustomerId = f.CustomerId GROUP BY f.cohort, SUBSTR(CAST(i.InvoiceDate AS VARCHAR), 1, 4);

-- Compare revenue of tracks with and without composer
SELECT CASE WHEN t.Composer IS NULL THEN 'unknown' ELSE 'known' END AS composer, SUM(il.UnitPrice * il.Quantity), COUNT(*) FROM InvoiceLine il JOIN Track t ON t.TrackId = il.TrackId GROUP BY CASE WHEN t.Composer IS NULL THEN 'unknown' ELSE 'known' END;

-- Mean track length on each playlist weighted by sales
SELECT pt.PlaylistId, SUM(t.Milliseconds * il.Quantity) * 1.0 / SUM(il.Quantity) FROM PlaylistTrack pt JOIN Track t ON t.TrackId = pt.TrackId JOIN InvoiceLine il ON il.TrackId = t.TrackId GROUP BY pt.PlaylistId;

-- Sales of tracks that are on each playlist
SELECT pt.PlaylistId, SUM(il.Quantity * il.UnitPrice) FROM PlaylistTrack pt JOIN InvoiceLine il ON il.TrackId = pt.TrackId GROUP BY pt.PlaylistId;
